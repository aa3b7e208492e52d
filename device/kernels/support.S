// What every image contains: the entry, start, worker set-up, the worker barrier and the end.
//
// The generated program supplies, as symbols: `program`, where it begins; SLOTS, the tile's block of
// words that differ from tile to tile; WORKER_SCRATCH, 6 times 256 bytes; COMPLETION, a word.
// Words of SLOTS: 0 the host port of the tile's column lane, 1 $FP_ICTL, 2 the random seed.

#include "kernel.h"

    .section .text.entry, "ax"
    .supervisor
    .globl entry
    .type entry, @function
entry:
    setzi $m0, start
    br $m0

ENTRY start
    sync TEXCH_SYNCZONE_INTERNAL
    // The loader may hand over before its workers have retired. [isa-core §8.1]
    sync TEXCH_SYNCZONE_LOCAL
    setzi $m0, MUX_NEUTRAL
    put $INCOMING_MUX, $m0
    put $OUTGOING_BASE, $mzero
    put $INCOMING_BASE, $mzero
    setzi $m1, SLOTS
    ld32 $m0, $m1, $mzero, 1
    put $FP_ICTL, $m0
    setzi $m0, WORKER_SCRATCH
    put $WORKER0_BASE, $m0
    add $m0, $m0, 256
    put $WORKER1_BASE, $m0
    add $m0, $m0, 256
    put $WORKER2_BASE, $m0
    add $m0, $m0, 256
    put $WORKER3_BASE, $m0
    add $m0, $m0, 256
    put $WORKER4_BASE, $m0
    add $m0, $m0, 256
    put $WORKER5_BASE, $m0
    setzi $m0, seed_worker
    runall $m0, $m1, 0
    sync TEXCH_SYNCZONE_LOCAL
    ld32 $m0, $m1, $mzero, 0
    put $INCOMING_MUX, $m0
    sync TEXCH_SYNCZONE_GS2_HOST
    setzi $m0, MUX_NEUTRAL
    put $INCOMING_MUX, $m0
    setzi $m0, program
    br $m0

// Seeds this worker's generator and discards 15 draws. [pipeline §4.3]
WORKER seed_worker
    WORKER_INDEX $m0
    ARGUMENT $m1, 2
    or $m0, $m0, $m1
    st32 $m0, $mworker_base, $mzero, 0
    ld32 $a0, $mworker_base, $mzero, 0
    uput $PRNG_SEED, $a0
    .align 8
    { rpt 15, (2f - 1f) / 8 - 1
      fnop }
1:  { nop
      urand64 $a0:1 }
2:  exitz $mzero

// Returns through $m7 once no worker runs: six empty ones have come and gone. [exchange §9.3]
ENTRY barrier
    setzi $m0, barrier_worker
    runall $m0, $mzero, 0
    sync TEXCH_SYNCZONE_LOCAL
    br $m7

WORKER barrier_worker
    exitz $mzero

// The end: the host finds 1 at COMPLETION and the supervisor excepted. [host-driver §14.5]
ENTRY complete
    setzi $m0, 1
    setzi $m1, COMPLETION
    st32 $m0, $m1, $mzero, 0
    br $mzero
