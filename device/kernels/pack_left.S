// Rows to a left operand: scaled once, rounded once, padded with zero columns.
//
//   0  source rows, f16, 8-aligned
//   1  destination rows, f16, 8-aligned
//   2  rows
//   3  64-bit words of a source row, at least 1
//   4  64-bit words of a destination row, no fewer
//   5  scale, f32
//
//   workers  rows w, w + 6, ...
//   cost     7 cycles a source word, 1 a padding word

#include "kernel.h"

ENTRY pack_left
    RUN_AND_RETURN pack_left_worker

WORKER pack_left_worker
    WORKER_INDEX $m0
    ARGUMENT $m1, 0
    ARGUMENT $m2, 1
    ARGUMENT $m3, 2
    ARGUMENT $m4, 3
    ARGUMENT $m5, 4
    ld32 $a6, $mvertex_base, $mzero, 5
    SHARE $m3, $m0, $m8
    brz $m3, 9f
    add $m3, $m3, -1
    shl $m6, $m4, 3                 // bytes of a source row
    shl $m7, $m5, 3                 // bytes of a destination row
    mul $m8, $m6, $m0
    add $m1, $m1, $m8
    mul $m8, $m7, $m0
    add $m2, $m2, $m8
    mul $m6, $m6, CTXT_WORKERS - 1  // from a row's end to this worker's next
    mul $m7, $m7, CTXT_WORKERS - 1
    sub $m5, $m5, $m4               // padding words
row:
    .align 8
    { rpt $m4, (2f - 1f) / 8 - 1
      fnop }
1:  { ld64step $a0:1, $mzero, $m1+=, 1
      fnop }
    { nop
      f16v2tof32 $a2:3, $a0 }
    { nop
      f16v2tof32 $a4:5, $a1 }
    { nop
      f32v2mul $a2:3, $a6:B, $a2:3 }
    { nop
      f32v2mul $a4:5, $a6:B, $a4:5 }
    { nop
      f32v2tof16 $a0, $a2:3 }
    { nop
      f32v2tof16 $a1, $a4:5 }
    { st64step $a0:1, $mzero, $m2+=, 1
      fnop }
2:  .align 8
    { rpt $m5, (4f - 3f) / 8 - 1
      fnop }
3:  { st64step $azeros, $mzero, $m2+=, 1
      fnop }
4:  add $m1, $m1, $m6
    add $m2, $m2, $m7
    brnzdec $m3, row
9:  exitz $mzero
