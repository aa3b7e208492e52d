# 1 "supervisor.S"
    .supervisor
    .section .text.supervisor, "ax"
    .globl start, @function
start:
    setzi   $m0, worker
    setzi   $m2, arguments + 8
    runall  $m0, $m2, 0
    run     $m0, $m2, start
    sync    2
    call    $lr, helper
    bri     start
    bri     3
    cmpult  $m1, $m2, limit
    .p2align 3
    sendpicp 42, 0x14021, 1, 0
    .long   0x19015000
    .weak   helper
    .extern worker
    .set    limit, 0x1234
