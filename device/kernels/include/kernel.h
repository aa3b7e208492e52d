// Macros that every kernel uses. Numbers of the chip come from its constants as -D; none is written
// here.

// Opens the section of supervisor entry `name`.
.macro ENTRY name
    .section .text.\name, "ax"
    .supervisor
    .align 8
    .globl \name
    .type \name, @function
\name:
.endm

// Opens the worker routine `name` in the section of its entry.
.macro WORKER name
    .worker
    .align 8
    .type \name, @function
\name:
.endm

// Runs `worker` on all six workers with the argument block at $m2 and returns through $m10.
.macro RUN_AND_RETURN worker
    setzi $m0, \worker
    runall $m0, $m2, 0
    sync TEXCH_SYNCZONE_LOCAL
    br $m10
.endm

// \register := argument word \index.
.macro ARGUMENT register, index
    ld32 \register, $mvertex_base, $mzero, \index
.endm

// \register := this worker's number, 0 to 5.
.macro WORKER_INDEX register
    get \register, $WSR
    and \register, \register, CSR_W_WSR__CTXTID_M1__MASK
.endm

// \value := \value / 6 for values below 98 304: 43691 / 2^18 exceeds a sixth by less than 1.3e-6.
.macro DIVIDE_BY_WORKERS value, scratch
    setzi \scratch, 43691
    mul \value, \value, \scratch
    shr \value, \value, 18
.endm

// \count := how many of \count items belong to worker \index when items are dealt in turn.
.macro SHARE count, index, scratch
    add \count, \count, CTXT_WORKERS - 1
    sub \count, \count, \index
    DIVIDE_BY_WORKERS \count, \scratch
.endm
