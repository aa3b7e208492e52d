// Takes padded key columns out of the scores: they become the most negative f16.
//
//   0  the last 16-column group in row 0, 8-aligned
//   1  bytes from row to row
//   2  rows
//   3  valid columns of the group, 0 to 16; 16 leaves everything as it is
//
//   workers  rows w, w + 6, ...
//   cost     4 cycles a row for the word with the boundary, 1 for each word behind it, 4 more

#include "kernel.h"

// \register := f16 lanes -65504, -65504.
.macro LOWEST_PAIR register
    setzi \register, 0xffbff
    or \register, \register, 0xfbf00000
.endm

// \register := f16 lanes 0, -65504 as bits, for or-ing.
.macro LOWEST_UPPER register
    setzi \register, 0xf0000
    or \register, \register, 0xfbf00000
.endm

ENTRY mask
    RUN_AND_RETURN mask_worker

WORKER mask_worker
    WORKER_INDEX $m0
    ARGUMENT $m1, 0
    ARGUMENT $m2, 1
    ARGUMENT $m3, 2
    ARGUMENT $m4, 3
    SHARE $m3, $m0, $m8
    brz $m3, 9f
    sub $m5, 16, $m4
    brz $m5, 9f
    add $m3, $m3, -1
    mul $m8, $m2, $m0
    add $m1, $m1, $m8
    mul $m2, $m2, CTXT_WORKERS
    shr $m5, $m5, 2                 // whole words to overwrite
    shr $m6, $m4, 2                 // words to keep
    shl $m6, $m6, 3
    add $m1, $m1, $m6
    and $m4, $m4, 3                 // valid columns of the boundary word
    LOWEST_PAIR $a4
    LOWEST_PAIR $a5
    // $a2:3 keeps the valid columns of the boundary word, $a6:7 fills the others.
    zero $a2:3
    zero $a6
    mov $a7, $a5
    brz $m4, row
    not $a2, $a2
    add $m6, $m4, -2
    brz $m6, row
    brpos $m6, three
    setzi $a2, 0xffff
    LOWEST_UPPER $a6
    bri row
three:
    setzi $a3, 0xffff
    LOWEST_UPPER $a7
row:
    mov $m7, $m1
    brz $m4, whole
    ld64 $a0:1, $m7, $mzero, 0
    and64 $a0:1, $a0:1, $a2:3
    or64 $a0:1, $a0:1, $a6:7
    st64step $a0:1, $mzero, $m7+=, 1
whole:
    .align 8
    { rpt $m5, (2f - 1f) / 8 - 1
      fnop }
1:  { st64step $a4:5, $mzero, $m7+=, 1
      fnop }
2:  add $m1, $m1, $m2
    brnzdec $m3, row
9:  exitz $mzero
