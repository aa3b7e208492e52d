    .data
    .equ    count, 3
    .equ    twice, count * 2
table:
    .byte   1, -1, 0xff
    .align  4
    .half   1.0h, -0.0h, infh, twice
    .short  0x1234
    .word   table, outside - 4, . - table
    .quad   -1, 0x123456789abcdef0
    .ascii  "a\n\"\101"
    .asciz  "z"
    .space  3, 0xee
    .zero   1
    .half   table@relative@16@s2
    .long   outside@abs18@s2, outside@abs19@s2, outside@abs@21
    .rept   2
    .byte   count
    .set    count, count + 1
    .endr
    .section .rodata.text, "a"
    .int    -1, 0xffffffff
    .globl  absolute
    .set    absolute, twice << 4 | 1
    .type   table, @object
    .size   table, 20
    .bss
    .align  32
    .space  64
