//! What the assembler refuses, where it points, and what it says.

use expect_test::{Expect, expect};
use tilekiln_compiler::asm::{MAX_ERRORS, Mode, Source, assemble};

#[track_caller]
fn check(text: &str, want: Expect) {
    let source = Source {
        name: "t.S".into(),
        text: text.into(),
        symbols: Vec::new(),
        mode: Mode::Worker,
    };
    let found = match assemble(&source) {
        Ok(object) => object.listing(),
        Err(errors) => format!("{errors}\n"),
    };
    want.assert_eq(&found);
}

#[test]
fn every_complaint_of_a_file_is_reported_in_its_order() {
    check(
        "# 1 \"gemm.S\"\n add $m0, $m1\n nosuch $m0\n# 40 \"x.h\"\n  .if\n  setzi $m0, 1048576\n .endif\n bri 1f\n",
        expect![[r#"
            gemm.S:1:2: add with 2 operands; it has 3
            gemm.S:2:2: unknown instruction `nosuch`
            x.h:40:6: expected an expression, found the end of the statement
            x.h:43:6: no label 1: behind this place
        "#]],
    );
}

#[test]
fn a_complaint_inside_a_macro_says_how_it_got_there() {
    check(
        ".macro inner x\n add \\x, $m1, 70000\n.endm\n.macro outer y\n inner \\y\n.endm\n\n outer $m3\n .rept 2\n  st32 $m0\n .endr",
        expect![[r#"
            t.S:2:15: imm is 70000; it goes from -32768 to 65535
              in inner from t.S:5
              in outer from t.S:8
            t.S:10:3: st32 with 1 operands; it has 4
              in .rept from t.S:9
        "#]],
    );
}

#[test]
fn no_more_than_twenty_complaints_are_reported() {
    let text = "bad\n".repeat(50);
    let source = Source {
        name: "t".into(),
        text,
        symbols: Vec::new(),
        mode: Mode::Worker,
    };
    let errors = assemble(&source).expect_err("refused");
    assert_eq!((errors.errors.len(), errors.more), (MAX_ERRORS, true));
}

#[test]
fn text_that_is_no_statement() {
    check(
        "nop nop\n@\n$m0\nadd $m0, $m1, (1 + 2\n.byte 08\n.byte 1 2\n.half 1.5\n.ascii \"\\q\"\n?\n",
        expect![[r#"
            t.S:1:1: nop with 1 operands; it has 0
            t.S:2:1: expected a statement, found `@`
            t.S:3:1: unknown instruction `$m0`
            t.S:4:21: expected `)`, found the end of the statement
            t.S:5:7: `08` is not a number
            t.S:6:9: unexpected `2` behind the end of the statement
            t.S:7:7: `1.5` has a decimal point but not the suffix h of half precision
            t.S:8:8: unknown escape `\q` in a string
            t.S:9:1: stray character `?`
        "#]],
    );
    check(
        "nop\n/* never ends",
        expect![[r#"
        t.S:2:1: a comment has no end
    "#]],
    );
    check(
        "nop\n .ascii \"never ends\n",
        expect![[r#"
        t.S:2:9: a string has no end
    "#]],
    );
}

#[test]
fn names_that_mean_nothing_or_two_things() {
    check(
        "x: nop\nx: nop\n.set x, 1\n.set y, 1\ny:\n bri .Lnone\n bri 7b\n .nosuch\n addd $m0, $m1, $m2\n",
        expect![[r#"
            t.S:2:1: x is already defined, at line 1
            t.S:3:5: x is already defined, at line 1
            t.S:5:1: y is already defined, at line 4
            t.S:6:6: the local label .Lnone is never defined
            t.S:7:6: no label 7: before this place
            t.S:8:2: unknown directive .nosuch
            t.S:9:2: unknown instruction `addd`; `add` exists
        "#]],
    );
    check(
        ".set a, b\n.set b, c\n.set c, a\n.int a\n.int d - e\n",
        expect![[r#"
        t.S:4:6: the value of b depends on itself
        t.S:5:6: d is not defined; a constant must stand here
    "#]],
    );
    check(
        "x: .data\ny: .int x - y\n.int x * 2\n.int 1 / 0\n.int 1 << 70\n",
        expect![[r#"
        t.S:2:9: the difference of x and y is not known until the program is linked
        t.S:3:6: `*` needs constants, not addresses
        t.S:4:6: the expression divides by zero
        t.S:5:6: the expression leaves 64 bits
    "#]],
    );
}

#[test]
fn conditionals_macros_and_repetitions_that_are_not_closed() {
    check(
        ".if 1\nnop\n.if 0\n",
        expect![[r#"
        t.S:3:1: this conditional has no .endif
        t.S:1:1: this conditional has no .endif
    "#]],
    );
    check(
        ".endif\n.else\n.endm\n.endr\n.elseif 1\n",
        expect![[r#"
        t.S:1:1: .endif without .if
        t.S:2:1: .else without .if
        t.S:3:1: .endm without .macro
        t.S:4:1: .endr without .rept
        t.S:5:1: .elseif without .if
    "#]],
    );
    check(
        ".if 1\n.else\n.else\n.endif\n",
        expect![[r#"
        t.S:3:1: .else without .if
    "#]],
    );
    check(
        "nop\n.macro m\nnop\n",
        expect![[r#"
        t.S:2:1: this .macro has no .endm
    "#]],
    );
    check(
        ".rept 3\nnop\n",
        expect![[r#"
        t.S:1:1: this .rept has no .endr
    "#]],
    );
    check(
        ".rept -1\nnop\n.endr\n.rept later\n.endr\n",
        expect![[r#"
        t.S:1:6: -1 does not fit; .rept takes 0 to 1048576
        t.S:4:6: later is not defined; a constant must stand here
    "#]],
    );
    check(
        ".macro m\n.if 1\n.endm\nm\n",
        expect![[r#"
        t.S:2:1: this conditional has no .endif
          in m from t.S:4
    "#]],
    );
    check(
        ".macro m\nm\n.endm\nm\n",
        expect![[r#"
        t.S:2:1: macros nest 129 deep; no more than 128 are allowed
          in m from t.S:2
          in m from t.S:2
          in m from t.S:2
          in m from t.S:2
          in m from t.S:2
          in m from t.S:2
          and 121 more
    "#]],
    );
    check(
        ".macro m a\n.endm\nm 1, 2\n.macro m\n.endm\n.macro n b:req\n.endm\nn\n",
        expect![[r#"
        t.S:3:1: m takes 1 arguments, not 2
        t.S:4:7: m is already defined, at line 1
        t.S:8:1: n needs a value for \b
    "#]],
    );
    check(
        ".rept 2000000\n.endr\n.rept 2000000\nnop\n.endr",
        expect![[r#"
        t.S:4:1: 638980 bytes are more than a tile holds
          in .rept from t.S:3
        t.S:4:1: the source expands to more than 1048576 statements
          in .rept from t.S:3
    "#]],
    );
}

#[test]
fn bundles_that_are_none() {
    check(
        "{ setzi $m0, 1 ; setzi $m1, 1 }\n{ f32fromi32 $a0, $a0 ; nop }\n\
         { ld32 $a0, $m0, $m0 ; setzi $a0, 10 }\n{ nop }\n{ nop ; fnop ; fnop }\n{ }\n}\n\
         { exitz $m0 ; fnop }\n{ ldconst $m0, 1 ; fnop }\n{ nop ; x: fnop }\n{ .align 8\n nop ; fnop }\n\
         { nop ; { fnop } }\n",
        expect![[r#"
            t.S:1:3: setzi stands in the aux half of an execution bundle
            t.S:2:3: f32fromi32 stands in the main half of an execution bundle
            t.S:3:24: both halves of an execution bundle write $a0
            t.S:4:1: an execution bundle holds 2 instructions, not 1
            t.S:5:1: an execution bundle holds 2 instructions, not 3
            t.S:6:1: an execution bundle holds 2 instructions, not 0
            t.S:7:1: an execution bundle ends that never started
            t.S:8:3: exitz cannot stand in an execution bundle
            t.S:9:3: ldconst cannot stand in an execution bundle
            t.S:10:9: the label x cannot stand in an execution bundle
            t.S:10:1: an execution bundle holds 2 instructions, not 1
            t.S:11:3: .align cannot stand in an execution bundle
            t.S:13:9: an execution bundle stands inside another
            t.S:13:18: an execution bundle ends that never started
        "#]],
    );
    check(
        "{ nop ; fnop\n",
        expect![[r#"
        t.S:1:1: this execution bundle has no end
    "#]],
    );
}

#[test]
fn repeat_bodies_that_would_not_run() {
    check(
        " rpt $m0, 0\n{ nop ; fnop }\n",
        expect![[r#"
        t.S:1:2: a repeat body starts at a multiple of 8 bytes; this one is at 0x4
    "#]],
    );
    check(
        " nop\n rpt $m0, 1\n{ nop ; fnop }\n",
        expect![[r#"
        t.S:2:2: this repeat body of 16 bytes goes beyond its section, which has 8 left
    "#]],
    );
    check(
        " nop\n rpt $m0, 0\n nop\n nop\n",
        expect![[r#"
        t.S:2:2: only execution bundles may stand in a repeat body, not nop
    "#]],
    );
    check(
        " nop\n rpt $m0, 0\n{ get $m0, $WSR ; fnop }\n",
        expect![[r#"
        t.S:2:2: get may not stand in a repeat body
    "#]],
    );
    check(
        " nop\n rpt $m0, 1\n{ nop ; fnop }\n .align 16\n",
        expect![[r#"
        t.S:2:2: this repeat body of 16 bytes goes beyond its section, which has 8 left
    "#]],
    );
    check(
        " nop\n rpt $m0, 0\n .long 1, 2\n",
        expect![[r#"
        t.S:2:2: only execution bundles may stand in a repeat body, not .long
    "#]],
    );
    check(
        " nop\n rpt $m0, outside\n{ nop ; fnop }\n",
        expect![[r#"
        t.S:2:11: outside is not defined; a constant must stand here
    "#]],
    );
    check(
        " nop\n rpt $m0, 256\n",
        expect![[r#"
        t.S:2:11: size_m1 is 256; it goes from 0 to 255
    "#]],
    );
}

#[test]
fn code_and_data_in_the_wrong_place() {
    check(
        ".byte 1\n nop\n",
        expect![[r#"
        t.S:2:2: an instruction stands at 0x1, which is not a multiple of 4 bytes
    "#]],
    );
    check(
        ".supervisor\n nop\n sendpicp 1, 2, 3, 0\n .long 1\n",
        expect![[r#"
        t.S:3:2: sendpicp starts at a multiple of 8 bytes; this one is at 0x4
    "#]],
    );
    check(
        ".supervisor\n sendpicp 1, 2, 3, 0\n nop\n",
        expect![[r#"
        t.S:2:2: sendpicp is followed by one .long, its second word
    "#]],
    );
    check(
        ".bss\n.byte 1\n nop\n.space 4, 1\n.space -1\n.space 700000\n.align 3\n.p2align 40\n",
        expect![[r#"
        t.S:2:7: section .bss holds only zeros
        t.S:3:2: section .bss holds only zeros
        t.S:4:8: section .bss holds only zeros
        t.S:5:8: -1 does not fit; .space takes 0 to 638976
        t.S:6:8: 700000 does not fit; .space takes 0 to 638976
        t.S:7:8: 3 is not an alignment: a power of 2 up to 65536
        t.S:8:10: 40 is not an alignment: a power of 2 up to 65536
    "#]],
    );
    check(
        ".section .text, \"aw\"\n.section x, \"q\"\n.section y, ax\n.section \"\"\n",
        expect![[r#"
        t.S:1:10: section .text was code before
        t.S:2:13: unknown section flags "q"
        t.S:3:13: expected section flags in quotes, found `ax`
        t.S:4:10: a section cannot be called ""
    "#]],
    );
}

#[test]
fn values_that_do_not_fit() {
    check(
        ".byte 256\n.byte -129\n.half 65536\n.int 4294967296\n.byte x@abs@21\n.int 5@abs@21\n\
         .int x@nosuch\n.half x@abs18@s2\n.globl big\n.set big, 0x100000000\n",
        expect![[r#"
            t.S:1:7: 256 does not fit; .byte takes -128 to 255
            t.S:2:7: -129 does not fit; .byte takes -128 to 255
            t.S:3:7: 65536 does not fit; .half takes -32768 to 65535
            t.S:4:6: 4294967296 does not fit; .int takes -2147483648 to 4294967295
            t.S:5:7: .byte cannot hold an address
            t.S:6:6: expected a symbol, found a number
            t.S:7:7: unknown symbol modifier @nosuch
            t.S:8:7: .half cannot hold an address
            t.S:10:5: 4294967296 does not fit; big takes -2147483648 to 4294967295
        "#]],
    );
}

#[test]
fn an_error_directive_speaks_for_itself() {
    check(
        ".error \"this kernel needs rows\"\n",
        expect![[r#"
        t.S:1:1: this kernel needs rows
    "#]],
    );
}
