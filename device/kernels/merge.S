// Partial results of all key splits to output rows.
//
//   0  partial results, f16 rows, 8-aligned; (split s, block b) lies (s * blocks + b) * stride further
//   1  that stride in bytes
//   2  key splits, 1 to 32
//   3  partial results of a split, at least 1
//   4  statistics of split 0, two f32 a row: maximum, sum; 8-aligned
//   5  bytes from split to split of the statistics
//   6  rows
//   7  bytes of a partial row
//   8  output rows, f16, 8-aligned
//   9  64-bit words of an output row
//
//   value    sum over s, b of partial * exp(m(s) - M) / L, with M the largest m and
//            L = sum over s of exp(m(s) - M) * l(s); f32 throughout, rounded once to f16
//   workers  rows w, w + 6, ...; each keeps its weights in the 256 bytes at $mworker_base
//   cost     2 cycles a partial and two columns + 8 two columns + 16 a split + 40 a row

#include "kernel.h"

// The address of the row's partial results, and where the row's sum goes.
#define row m0
#define cursor m2
#define weight m3
#define partial m4
#define stride m5
#define output m6
#define pairs m7
#define split_stride m8
#define terms m9
#define row_bytes m10
#define rows_left m11

ENTRY merge
    RUN_AND_RETURN merge_worker

WORKER merge_worker
    WORKER_INDEX $row
    ARGUMENT $rows_left, 6
    SHARE $rows_left, $row, $m1
    brz $rows_left, 9f
    { add $rows_left, $rows_left, -1
      setzi $a0, CSR_W_FP_CLR__ZAACC__MASK << CSR_W_FP_CLR__ZAACC__SHIFT }
    { ld32 $stride, $mvertex_base, $mzero, 1
      uput $FP_CLR, $a0 }
    shr $stride, $stride, 2         // in 32-bit words, for the stepping load
    ARGUMENT $split_stride, 5
    shr $split_stride, $split_stride, 3
    ARGUMENT $row_bytes, 7
one_row:
    ARGUMENT $m1, 4
    shl $m4, $row, 3
    add $m1, $m1, $m4               // the row's statistics in split 0
    ARGUMENT $m7, 2
    add $m7, $m7, -1                // splits after the first

    // $a4 := the largest maximum.
    mov $cursor, $m1
    ld64step $a4:5, $mzero, $cursor+=, $split_stride
    brz $m7, known
    add $m6, $m7, -1
maximum:
    ld64step $a0:1, $mzero, $cursor+=, $split_stride
    f32max $a4, $a4, $a0
    brnzdec $m6, maximum
known:
    // Weights as pairs, once for every partial result of their split; $a5 := the sum of all.
    mov $weight, $mworker_base
    zero $a5
    ARGUMENT $terms, 3
    add $terms, $terms, -1
weigh:
    ld64step $a0:1, $mzero, $m1+=, $split_stride
    f32sub $a0, $a0, $a4
    f32exp $a2, $a0
    f32mul $a1, $a1, $a2
    { mov $m6, $terms
      f32add $a5, $a5, $a1 }
    mov $a3, $a2
repeat_weight:
    st64step $a2:3, $mzero, $weight+=, 1
    brnzdec $m6, repeat_weight
    brnzdec $m7, weigh

    // Divide them by the sum.
    { sub $terms, $weight, $mworker_base
      f32oox $a4, $a5 }
    shr $terms, $terms, 3
    add $terms, $terms, -1          // partial results after the first
    mov $m6, $terms
    mov $weight, $mworker_base
divide:
    ld64 $a2:3, $weight, $mzero, 0
    f32v2mul $a2:3, $a4:B, $a2:3
    st64step $a2:3, $mzero, $weight+=, 1
    brnzdec $m6, divide

    // The weighted sum, two columns at a time.
    mul $m1, $row_bytes, $row
    ARGUMENT $partial, 0
    add $partial, $partial, $m1
    ARGUMENT $pairs, 9
    shl $m1, $pairs, 3
    mul $m1, $m1, $row
    ARGUMENT $output, 8
    add $output, $output, $m1
    shl $pairs, $pairs, 1
    add $pairs, $pairs, -1
two_columns:
    mov $cursor, $partial
    ld32step $a0, $mzero, $cursor+=, $stride
    mov $weight, $mworker_base
    .align 8
    { rpt $terms, (2f - 1f) / 8 - 1
      fnop }
1:  { ld64step $a2:3, $mzero, $weight+=, 1
      f16v2tof32 $a4:5, $a0 }
    { ld32step $a0, $mzero, $cursor+=, $stride
      f32v2mac $a4:5, $a2:3 }
2:  { ld64step $a2:3, $mzero, $weight+=, 1
      f16v2tof32 $a4:5, $a0 }
    { add $partial, $partial, 4
      f32v2mac $a4:5, $a2:3 }
    f32v2gina $a4:5, $azeros, 0
    f32v2tof16 $a4, $a4:5
    st32step $a4, $mzero, $output+=, 1
    brnzdec $pairs, two_columns
    add $row, $row, CTXT_WORKERS
    brnzdec $rows_left, one_row
9:  exitz $mzero
