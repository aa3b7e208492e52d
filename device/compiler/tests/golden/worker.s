# 1 "device/kernels/worker.S"
// A worker loop as kernels write it: macros, a padded repeat body, relocations.
.macro STEP pair:req, stride=1
    { ld64step $a0:1, $mzero, $m2+=, \stride ; f16v4add $a\pair, $a0:1, $a2:3 }
.endm

.macro PAD label
    .if (. - \label) & 7
    nop
    .endif
.endm

    .section .text.worker, "ax", @progbits
    .worker
    .globl worker
    .type worker, @function
    .align 8
worker:
    get     $m0, $WSR
    and     $m0, $m0, 7
    ld32    $m2, $mvertex_base, $mzero, 0
    ld32    $m3, $mvertex_base, 1
    brz     $m3, .Ldone
    PAD     worker
    nop
    rpt     $m3, (2f - 1f) / 8 - 1
1:
    STEP    4:5
    STEP    6:7, 2
    {
        st32step $a2, $mzero, $m2+=, 1
#if_is_a_comment_here
        .ifc 1, 1
        mov $a0, $azero
        .else
        fnop
        .endif
    }
2:
    brnzdec $m3, 1b
.Ldone:
    setzi   $a0, -1.5h
    ldconst $m4, 0x12345678
    ldconst $m5, 0x678
    exitz   $mzero
    .size worker, . - worker
