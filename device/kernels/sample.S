// Stores the tile's cycle counter.
//
//   0  address of the word, 4-aligned
//
//   workers  worker 0; the supervisor cannot read the counter [isa-core §9]

#include "kernel.h"

ENTRY sample
    RUN_AND_RETURN sample_worker

WORKER sample_worker
    WORKER_INDEX $m0
    brnz $m0, 9f
    ARGUMENT $m1, 0
    get $m2, $COUNT_L
    st32 $m2, $m1, $mzero, 0
9:  exitz $mzero
