// Softmax of rows in place, without the division: scores become weights, and each row leaves its
// maximum and its sum.
//
//   0  scores, row-major f16, 16-aligned
//   1  bytes from row to row, a multiple of 32
//   2  rows
//   3  columns, a multiple of 16, at least 16
//   4  statistics, two f32 a row: maximum, sum of the weights as rounded; 8-aligned
//
//   weight   exp(f16(score - maximum)), f16
//   workers  rows w, w + 6, ...
//   reads    8 bytes past a row
//   cost     1.6 cycles a column + 28 a row

#include "kernel.h"

// \register pair += two of the eight sums, which leave the chain.
.macro ADD_TWO_SUMS
    f32v2gina $a2:3, $azeros, 0
    f32v2add $a0:1, $a0:1, $a2:3
.endm

ENTRY softmax
    RUN_AND_RETURN softmax_worker

WORKER softmax_worker
    WORKER_INDEX $m0
    ARGUMENT $m1, 0
    ARGUMENT $m4, 1
    ARGUMENT $m3, 2
    ARGUMENT $m5, 3
    ARGUMENT $m6, 4
    SHARE $m3, $m0, $m8
    brz $m3, 9f
    { add $m3, $m3, -1
      setzi $a0, CSR_W_FP_CLR__ZAACC__MASK << CSR_W_FP_CLR__ZAACC__SHIFT }
    { mul $m8, $m4, $m0
      uput $FP_CLR, $a0 }
    add $m1, $m1, $m8
    mul $m4, $m4, CTXT_WORKERS      // from this worker's row to its next
    shl $m8, $m0, 3
    add $m6, $m6, $m8
    shr $m7, $m5, 2
    add $m7, $m7, -1                // words after the first
    shr $m5, $m5, 3                 // pairs of words
row:
    mov $m2, $m1
    ld64step $a0:1, $mzero, $m2+=, 1
    mov $a2:3, $a0:1
    .align 8
    { rpt $m7, (2f - 1f) / 8 - 1
      fnop }
1:  { ld64step $a0:1, $mzero, $m2+=, 1
      f16v4max $a2:3, $a2:3, $a0:1 }
2:  f16v4max $a2:3, $a2:3, $a0:1
    f16v4maxc $a2, $a2:3
    f16v2maxc $a2, $a2
    { mov $m2, $m1
      f16tof32 $a6, $a2 }
    { ld64step $a0:1, $mzero, $m2+=, 1
      f16v2sub $a4, $azero, $a2 }
    { mov $m8, $m1
      f16v4add $a0:1, $a4:BL, $a0:1 }
    .align 8
    { rpt $m5, (2f - 1f) / 8 - 1
      fnop }
1:  { ld64step $a2:3, $mzero, $m2+=, 1
      f16v2exp $a0, $a0 }
    { nop
      f16v2exp $a1, $a1 }
    { st64step $a0:1, $mzero, $m8+=, 1
      f16v4add $a2:3, $a4:BL, $a2:3 }
    { nop
      f16v2exp $a2, $a2 }
    { nop
      f16v2exp $a3, $a3 }
    { ld64step $a0:1, $mzero, $m2+=, 1
      f16v8acc $a0:3 }
    { st64step $a2:3, $mzero, $m8+=, 1
      f16v4add $a0:1, $a4:BL, $a0:1 }
2:  f32v2gina $a0:1, $azeros, 0
    ADD_TWO_SUMS
    ADD_TWO_SUMS
    ADD_TWO_SUMS
    f32add $a7, $a0, $a1
    st64step $a6:7, $mzero, $m6+=, CTXT_WORKERS
    add $m1, $m1, $m4
    brnzdec $m3, row
9:  exitz $mzero
