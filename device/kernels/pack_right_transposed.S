// Rows to right-operand panels of their transpose: a column becomes one channel.
//
//   0..5  as pack_right
//
// Panel p of group g lies at destination + g * stride + 512 * p; channel j of it, column 16 p + j
// of the group's 16 rows, at + 32 * j. So columns follow each other 32 bytes apart, over all
// panels. Columns past a row's end are zero.
//
//   workers  blocks of four rows w, w + 6, ...
//   cost     7 cycles two columns of a block + 25 a block

#include "kernel.h"

ENTRY pack_right_transposed
    RUN_AND_RETURN pack_right_transposed_worker

WORKER pack_right_transposed_worker
    WORKER_INDEX $m0
    ARGUMENT $m3, 2
    shl $m3, $m3, 2                 // blocks
    SHARE $m3, $m0, $m8
    brz $m3, 9f
    add $m11, $m3, -1
    ARGUMENT $m6, 3
    ARGUMENT $m7, 4
    shl $m8, $m6, 2                 // columns in the rows
    shl $m7, $m7, 4
    sub $m7, $m7, $m8               // columns to pad
    shr $m8, $m8, 1                 // pairs of columns
    shl $m6, $m6, 3                 // bytes of a source row
block:
    ARGUMENT $m1, 0
    shl $m9, $m0, 2
    mul $m9, $m9, $m6
    add $m1, $m1, $m9
    add $m2, $m1, $m6
    add $m3, $m2, $m6
    add $m4, $m3, $m6
    shr $m9, $m0, 2                 // group
    ARGUMENT $m5, 5
    mul $m9, $m9, $m5
    ARGUMENT $m5, 1
    add $m5, $m5, $m9
    and $m9, $m0, 3                 // which four of the group's rows
    shl $m9, $m9, 3
    add $m5, $m5, $m9
    .align 8
    { rpt $m8, (2f - 1f) / 8 - 1
      fnop }
1:  { ld32step $a0, $mzero, $m1+=, 1
      fnop }
    { ld32step $a1, $mzero, $m2+=, 1
      fnop }
    { ld32step $a2, $mzero, $m3+=, 1
      sort4x16lo $a4, $a0, $a1 }
    { ld32step $a3, $mzero, $m4+=, 1
      sort4x16hi $a6, $a0, $a1 }
    { nop
      sort4x16lo $a5, $a2, $a3 }
    { st64step $a4:5, $mzero, $m5+=, 4
      sort4x16hi $a7, $a2, $a3 }
    { st64step $a6:7, $mzero, $m5+=, 4
      fnop }
2:  .align 8
    { rpt $m7, (4f - 3f) / 8 - 1
      fnop }
3:  { st64step $azeros, $mzero, $m5+=, 4
      fnop }
4:  add $m0, $m0, CTXT_WORKERS
    brnzdec $m11, block
9:  exitz $mzero
