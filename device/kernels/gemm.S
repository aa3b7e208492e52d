// Matrix product on the matrix unit, f16 with f16 partials: out[m, n] = sum over k left[m, k] right[k, n].
//
//   0  left, row-major f16, 8-aligned
//   1  bytes from row to row of left, a multiple of 32, at most 4096
//   2  right, panels of 16 channels of 16 inner elements, 16-aligned, in region 1
//   3  out, row-major f16, 8-aligned, in region 1
//   4  bytes from row to row of out, a multiple of 32, at most 4096
//   5  rows
//   6  inner panels, at least 1
//   7  column groups of 16
//   8  right: bytes from inner panel to inner panel
//   9  right: bytes from column group to column group
//
//   workers  contiguous rows: w * rows / 6 up to (w + 1) * rows / 6
//   rounding to f16 after every 16 inner elements, by $FP_ICTL
//   needs    left and out in different exclusion units [pipeline §5 rule 4]
//   reads    nothing past a row of left or out
//   keeps    worker registers from panel to panel [A-RETAIN]
//   cost     24 cycles a row of the busiest worker and panel + 95 and 60 for panel and launch
//
// The schedule of a worker's panel, for row r and quarter g of its 16 elements, i = 4 r + g: issue i
// multiplies x(i), takes the partial c(i + 4) of the next row and gives the result y(i - 4) of the
// row before. An execution bundle loads x(i + 1) and c(i + 5) and stores y(i - 6), 11 words behind
// c: an odd distance, so that both may lie in one interleaved pair. [isa-float §6]

#include "kernel.h"

// Retained by workers from panel to panel; $m0 to $m4 are free in each.
#define left_bytes m5
#define out_bytes m6
#define left_start m7
#define rows m8
#define left m9
#define out m10
#define strides m11

// What the pace selectors mean here: a word goes on to the next, or to the first of the next row.
#define X_ROW 1
#define C_ROW (2 << 2)
#define Y_ROW_SOLO 2
#define Y_ROW_OF_2 (2 << 2)
#define Y_ROW_OF_3 (2 << 4)

#define P0 TAMP_F16V4_E4_P0
#define P1 TAMP_F16V4_E4_P1
#define P2 TAMP_F16V4_E4_P2
#define P3 TAMP_F16V4_E4_P3

// Loads the weights of two channels into units \unit and \unit + 1.
.macro LOAD_TWO_CHANNELS unit
    ld128putcs 4 * \unit
    ld128putcs 4 * \unit + 2
    ld128putcs 4 * \unit + 4
    ld128putcs 4 * \unit + 6
.endm

ENTRY gemm
    ld32 $m1, $m2, $mzero, 5
    brz $m1, return
    ld32 $m5, $m2, $mzero, 7
    brz $m5, return
    add $m5, $m5, -1                // column groups to come
    ld32 $m4, $m2, $mzero, 2        // right operand of this column group
    setzi $m0, gemm_first
column:
    mov $m3, $m4
    ld32 $m6, $m2, $mzero, 6
    add $m6, $m6, -1                // inner panels to come
panel:
    put $CCCSLOAD, $m3
    // Channels in memory order go to units 0 1 8 9 2 3 10 11 ... [isa-float §4.2]
    LOAD_TWO_CHANNELS 0
    LOAD_TWO_CHANNELS 8
    LOAD_TWO_CHANNELS 2
    LOAD_TWO_CHANNELS 10
    LOAD_TWO_CHANNELS 4
    LOAD_TWO_CHANNELS 12
    LOAD_TWO_CHANNELS 6
    LOAD_TWO_CHANNELS 14
    runall $m0, $m2, 0
    setzi $m0, gemm_next_inner
    ld32 $m1, $m2, $mzero, 8
    add $m3, $m3, $m1
    sync TEXCH_SYNCZONE_LOCAL
    brnzdec $m6, panel
    ld32 $m1, $m2, $mzero, 9
    add $m4, $m4, $m1
    setzi $m0, gemm_next_column
    brnzdec $m5, column
return:
    br $m10

WORKER gemm_first
    WORKER_INDEX $m0
    ARGUMENT $m1, 5
    mul $m2, $m1, $m0
    add $m3, $m2, $m1
    DIVIDE_BY_WORKERS $m2, $m4
    DIVIDE_BY_WORKERS $m3, $m4
    sub $rows, $m3, $m2
    ARGUMENT $left_bytes, 1
    ARGUMENT $left_start, 0
    mul $m1, $m2, $left_bytes
    add $left_start, $left_start, $m1
    ARGUMENT $out_bytes, 4
    ARGUMENT $out, 3
    mul $m1, $m2, $out_bytes
    add $out, $out, $m1
    // From the last word of a row's 32 bytes to the first of the next row's, in 64-bit words.
    add $m1, $left_bytes, -24
    shr $strides, $m1, 3
    add $m1, $out_bytes, -24
    shr $m1, $m1, 3
    shl $m1, $m1, 10
    or $strides, $strides, $m1
    mov $left, $left_start
    bri initialise

gemm_next_column:
    add $out, $out, 32
    mov $left, $left_start

// out = left * panel.
initialise:
    { add $m2, $rows, -2
      setzi $a0, CSR_W_FP_CLR__ZAACC__MASK << CSR_W_FP_CLR__ZAACC__SHIFT }
    { brneg $m2, initialise_few
      uput $FP_CLR, $a0 }
    add $m3, $left, $left_bytes
    add $m3, $m3, 16                // the streams start at x(6) and y(0)
    tapack $m0:1, $m3, $mzero, $out
    ld64 $a0:1, $left, $mzero, 0
    { ld64 $a0:1, $left, $mzero, 1
      f16v4hihov4amp $a4:5, $a0:1, $azeros, P0 }
    { ld64 $a0:1, $left, $mzero, 2
      f16v4hihov4amp $a4:5, $a0:1, $azeros, P1 }
    { ld64 $a0:1, $left, $mzero, 3
      f16v4hihov4amp $a4:5, $a0:1, $azeros, P2 }
    { ld64 $a0:1, $left, $left_bytes, 0
      f16v4hihov4amp $a4:5, $a0:1, $azeros, P3 }
    { ld64 $a0:1, $left, $left_bytes, 1
      f16v4hihov4amp $a4:5, $a0:1, $azeros, P0 }
    .align 8
    { rpt $m2, (2f - 1f) / 8 - 1
      fnop }
1:  { ldst64pace $a0:1, $a4:5, $m0:1+=, $strides, 0
      f16v4hihov4amp $a4:5, $a0:1, $azeros, P1 }
    { ldst64pace $a0:1, $a4:5, $m0:1+=, $strides, X_ROW
      f16v4hihov4amp $a4:5, $a0:1, $azeros, P2 }
    { ldst64pace $a0:1, $a4:5, $m0:1+=, $strides, 0
      f16v4hihov4amp $a4:5, $a0:1, $azeros, P3 }
    { ldst64pace $a0:1, $a4:5, $m0:1+=, $strides, Y_ROW_OF_2
      f16v4hihov4amp $a4:5, $a0:1, $azeros, P0 }
2:  { ldst64pace $a0:1, $a4:5, $m0:1+=, $strides, 0
      f16v4hihov4amp $a4:5, $a0:1, $azeros, P1 }
    { ldst64pace $a0:1, $a4:5, $m0:1+=, $strides, 0
      f16v4hihov4amp $a4:5, $a0:1, $azeros, P2 }
    { st64pace $a4:5, $m0:1+=, $strides, 0
      f16v4hihov4amp $a4:5, $a0:1, $azeros, P3 }
    { st64pace $a4:5, $m0:1+=, $strides, Y_ROW_SOLO
      f16v4hihov4amp $a4:5, $azeros, $azeros, P0 }
    { st64pace $a4:5, $m0:1+=, $strides, 0
      f16v4hihov4amp $a4:5, $azeros, $azeros, P1 }
    { st64pace $a4:5, $m0:1+=, $strides, 0
      f16v4hihov4amp $a4:5, $azeros, $azeros, P2 }
    { st64pace $a4:5, $m0:1+=, $strides, 0
      f16v4hihov4amp $a4:5, $azeros, $azeros, P3 }
    st64pace $a4:5, $m0:1+=, $strides, 0
    exitz $mzero

// One row or none: zero it, then add to it.
initialise_few:
    brz $rows, finished
    st64 $azeros, $out, $mzero, 0
    st64 $azeros, $out, $mzero, 1
    st64 $azeros, $out, $mzero, 2
    st64 $azeros, $out, $mzero, 3
    bri accumulate_few

// out += left * panel.
WORKER gemm_next_inner
    { add $left, $left, 32
      setzi $a0, CSR_W_FP_CLR__ZAACC__MASK << CSR_W_FP_CLR__ZAACC__SHIFT }
    { add $m2, $rows, -3
      uput $FP_CLR, $a0 }
    brneg $m2, accumulate_few
    add $m3, $out, $out_bytes
    tapack $m0:1, $left, $m3, $out
    ld64 $a2:3, $out, $mzero, 0
    { ld64 $a2:3, $out, $mzero, 1
      f16v4hihov4amp $a4:5, $azeros, $a2:3, P0 }
    { ld64 $a2:3, $out, $mzero, 2
      f16v4hihov4amp $a4:5, $azeros, $a2:3, P1 }
    { ld64 $a2:3, $out, $mzero, 3
      f16v4hihov4amp $a4:5, $azeros, $a2:3, P2 }
    { ld2x64pace $a0:1, $a2:3, $m0:1+=, $strides, 0
      f16v4hihov4amp $a4:5, $azeros, $a2:3, P3 }
    { ld2x64pace $a0:1, $a2:3, $m0:1+=, $strides, 0
      f16v4hihov4amp $a4:5, $a0:1, $a2:3, P0 }
    { ld2x64pace $a0:1, $a2:3, $m0:1+=, $strides, 0
      f16v4hihov4amp $a6:7, $a0:1, $a2:3, P1 }
    { ld2x64pace $a0:1, $a2:3, $m0:1+=, $strides, X_ROW | C_ROW
      f16v4hihov4amp $a4:5, $a0:1, $a2:3, P2 }
    { ld2x64pace $a0:1, $a2:3, $m0:1+=, $strides, 0
      f16v4hihov4amp $a6:7, $a0:1, $a2:3, P3 }
    { ld2x64pace $a0:1, $a2:3, $m0:1+=, $strides, 0
      f16v4hihov4amp $a4:5, $a0:1, $a2:3, P0 }
    { ld2x64pace $a0:1, $a2:3, $m0:1+=, $strides, 0
      f16v4hihov4amp $a6:7, $a0:1, $a2:3, P1 }
    { ld2xst64pace $a0:3, $a4:5, $m0:1+=, $strides, X_ROW | C_ROW
      f16v4hihov4amp $a4:5, $a0:1, $a2:3, P2 }
    .align 8
    { rpt $m2, (2f - 1f) / 8 - 1
      fnop }
1:  { ld2xst64pace $a0:3, $a6:7, $m0:1+=, $strides, 0
      f16v4hihov4amp $a6:7, $a0:1, $a2:3, P3 }
    { ld2xst64pace $a0:3, $a4:5, $m0:1+=, $strides, 0
      f16v4hihov4amp $a4:5, $a0:1, $a2:3, P0 }
    { ld2xst64pace $a0:3, $a6:7, $m0:1+=, $strides, Y_ROW_OF_3
      f16v4hihov4amp $a6:7, $a0:1, $a2:3, P1 }
    { ld2xst64pace $a0:3, $a4:5, $m0:1+=, $strides, X_ROW | C_ROW
      f16v4hihov4amp $a4:5, $a0:1, $a2:3, P2 }
2:  { ldst64pace $a0:1, $a6:7, $m0:1+=, $strides, 0
      f16v4hihov4amp $a6:7, $a0:1, $a2:3, P3 }
    { ldst64pace $a0:1, $a4:5, $m0:1+=, $strides, 0
      f16v4hihov4amp $a4:5, $a0:1, $azeros, P0 }
    { ldst64pace $a0:1, $a6:7, $m0:1+=, $strides, Y_ROW_OF_2
      f16v4hihov4amp $a6:7, $a0:1, $azeros, P1 }
    { ldst64pace $a0:1, $a4:5, $m0:1+=, $strides, 0
      f16v4hihov4amp $a4:5, $a0:1, $azeros, P2 }
    { st64pace $a6:7, $m0:1+=, $strides, 0
      f16v4hihov4amp $a6:7, $a0:1, $azeros, P3 }
    { st64pace $a4:5, $m0:1+=, $strides, 0
      f16v4hihov4amp $a4:5, $azeros, $azeros, P0 }
    { st64pace $a6:7, $m0:1+=, $strides, Y_ROW_SOLO
      f16v4hihov4amp $a6:7, $azeros, $azeros, P1 }
    { st64pace $a4:5, $m0:1+=, $strides, 0
      f16v4hihov4amp $a4:5, $azeros, $azeros, P2 }
    { st64pace $a6:7, $m0:1+=, $strides, 0
      f16v4hihov4amp $a6:7, $azeros, $azeros, P3 }
    st64pace $a4:5, $m0:1+=, $strides, 0
    st64pace $a6:7, $m0:1+=, $strides, 0
    exitz $mzero

// Two rows or fewer: too short for the schedule above, so one after the other.
accumulate_few:
    brz $rows, finished
    add $m2, $rows, -1
    mov $m3, $left
    mov $m4, $out
few_row:
    ld64 $a2:3, $m4, $mzero, 0
    { ld64 $a2:3, $m4, $mzero, 1
      f16v4hihov4amp $a4:5, $azeros, $a2:3, P0 }
    { ld64 $a2:3, $m4, $mzero, 2
      f16v4hihov4amp $a4:5, $azeros, $a2:3, P1 }
    { ld64 $a2:3, $m4, $mzero, 3
      f16v4hihov4amp $a4:5, $azeros, $a2:3, P2 }
    { ld64 $a0:1, $m3, $mzero, 0
      f16v4hihov4amp $a4:5, $azeros, $a2:3, P3 }
    { ld64 $a0:1, $m3, $mzero, 1
      f16v4hihov4amp $a4:5, $a0:1, $azeros, P0 }
    { ld64 $a0:1, $m3, $mzero, 2
      f16v4hihov4amp $a4:5, $a0:1, $azeros, P1 }
    { ld64 $a0:1, $m3, $mzero, 3
      f16v4hihov4amp $a4:5, $a0:1, $azeros, P2 }
    f16v4hihov4amp $a4:5, $a0:1, $azeros, P3
    f16v4hihov4amp $a4:5, $azeros, $azeros, P0
    { st64 $a4:5, $m4, $mzero, 0
      f16v4hihov4amp $a4:5, $azeros, $azeros, P1 }
    { st64 $a4:5, $m4, $mzero, 1
      f16v4hihov4amp $a4:5, $azeros, $azeros, P2 }
    { st64 $a4:5, $m4, $mzero, 2
      f16v4hihov4amp $a4:5, $azeros, $azeros, P3 }
    st64 $a4:5, $m4, $mzero, 3
    add $m3, $m3, $left_bytes
    add $m4, $m4, $out_bytes
    brnzdec $m2, few_row
finished:
    exitz $mzero
