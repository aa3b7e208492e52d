// Rows to right-operand panels: a row becomes one channel of its group's panels.
//
//   0  source rows, f16, 8-aligned, 16 a group
//   1  destination, 16-aligned
//   2  groups
//   3  64-bit words of a source row, at least 1
//   4  panels: those words rounded up to 4, divided by 4
//   5  bytes from group to group of the destination
//
// Panel p of group g lies at destination + g * stride + 512 * p; channel j of it, 16 elements of
// row 16 g + j, at + 32 * j. Columns past a row's end are zero.
//
//   workers  rows w, w + 6, ...
//   cost     10 cycles a panel of a row + 25 a row

#include "kernel.h"

ENTRY pack_right
    RUN_AND_RETURN pack_right_worker

WORKER pack_right_worker
    WORKER_INDEX $m0
    ARGUMENT $m9, 0
    ARGUMENT $m3, 2
    ARGUMENT $m4, 3
    ARGUMENT $m5, 4
    shl $m3, $m3, 4                 // rows
    SHARE $m3, $m0, $m8
    brz $m3, 9f
    add $m3, $m3, -1
    shl $m6, $m4, 3                 // bytes of a source row
    shr $m7, $m4, 2                 // whole panels
    shl $m8, $m7, 2
    sub $m4, $m4, $m8               // words in the last, partial panel
    sub $m5, $m5, $m7               // 1 when there is one
row:
    mul $m1, $m6, $m0
    add $m1, $m1, $m9
    shr $m8, $m0, 4                 // group
    ARGUMENT $m2, 5
    mul $m8, $m8, $m2
    ARGUMENT $m2, 1
    add $m2, $m2, $m8
    and $m8, $m0, 15                // channel
    shl $m8, $m8, 5
    add $m2, $m2, $m8
    brz $m7, partial
    add $m8, $m7, -1
panel:
    ld64step $a0:1, $mzero, $m1+=, 1
    ld64step $a2:3, $mzero, $m1+=, 1
    ld64step $a4:5, $mzero, $m1+=, 1
    ld64step $a6:7, $mzero, $m1+=, 1
    st64 $a0:1, $m2, $mzero, 0
    st64 $a2:3, $m2, $mzero, 1
    st64 $a4:5, $m2, $mzero, 2
    st64 $a6:7, $m2, $mzero, 3
    add $m2, $m2, 512
    brnzdec $m8, panel
partial:
    brz $m5, next
    st64 $azeros, $m2, $mzero, 1
    st64 $azeros, $m2, $mzero, 2
    st64 $azeros, $m2, $mzero, 3
    .align 8
    { rpt $m4, (2f - 1f) / 8 - 1
      fnop }
1:  { ld64step $a0:1, $mzero, $m1+=, 1
      fnop }
    { st64step $a0:1, $mzero, $m2+=, 1
      fnop }
2:
next:
    add $m0, $m0, CTXT_WORKERS
    brnzdec $m3, row
9:  exitz $mzero
