// Copies 64-bit words.
//
//   0  source, 8-aligned
//   1  destination, 8-aligned; must not overlap the source
//   2  count of 64-bit words, below 98 304
//
//   workers  words dealt in turn
//   cost     2 cycles a word + 100

#include "kernel.h"

ENTRY copy
    RUN_AND_RETURN copy_worker

WORKER copy_worker
    WORKER_INDEX $m0
    ARGUMENT $m1, 0
    ARGUMENT $m2, 1
    ARGUMENT $m3, 2
    SHARE $m3, $m0, $m4
    shl $m4, $m0, 3
    add $m1, $m1, $m4
    add $m2, $m2, $m4
    .align 8
    { rpt $m3, (2f - 1f) / 8 - 1
      fnop }
1:  { ld64step $a0:1, $mzero, $m1+=, CTXT_WORKERS
      fnop }
    { st64step $a0:1, $mzero, $m2+=, CTXT_WORKERS
      fnop }
2:  exitz $mzero
