//! The assembler against listings, and one small source a feature.

use expect_test::{Expect, ExpectFile, expect, expect_file};
use tilekiln_compiler::asm::{Mode, Source, assemble, assemble_with_warnings, key};

fn source(text: &str, mode: Mode) -> Source {
    Source {
        name: "t.S".to_owned(),
        text: text.to_owned(),
        symbols: Vec::new(),
        mode,
    }
}

/// The listing of a worker's source, or the complaints about it.
fn listing(text: &str) -> String {
    match assemble(&source(text, Mode::Worker)) {
        Ok(object) => object.listing(),
        Err(errors) => format!("{errors}\n"),
    }
}

#[track_caller]
fn check(text: &str, want: Expect) {
    want.assert_eq(&listing(text));
}

#[track_caller]
fn golden(text: &str, want: ExpectFile) {
    want.assert_eq(&listing(text));
}

/// The words of all sections, or the complaints.
fn words(text: &str) -> String {
    match assemble(&source(text, Mode::Worker)) {
        Ok(object) => {
            let bytes = object
                .sections
                .iter()
                .flat_map(|section| section.bytes.chunks(4));
            let word = |chunk: &[u8]| chunk.iter().rev().map(|b| format!("{b:02x}")).collect();
            bytes.map(word).collect::<Vec<String>>().join(" ")
        }
        Err(errors) => errors.to_string(),
    }
}

#[test]
fn a_worker_with_macros_and_a_repeat_body() {
    golden(
        include_str!("golden/worker.s"),
        expect_file!["golden/worker.lst"],
    );
}

#[test]
fn a_supervisor_with_every_relocation_of_code() {
    golden(
        include_str!("golden/supervisor.s"),
        expect_file!["golden/supervisor.lst"],
    );
}

#[test]
fn data_of_every_kind() {
    golden(
        include_str!("golden/data.s"),
        expect_file!["golden/data.lst"],
    );
}

#[test]
fn local_labels_may_be_defined_again_and_again() {
    check(
        "0: bri 0b\n bri 0f\n0: bri 0b\n1: brnz $m0, 1b\n1: brnz $m0, 1b",
        expect![[r#"
            section .text code align 4 size 20
              0000 40800000  R_COLOSSUS_19_S2 .text+0  t.S:1
              0004 40800000  R_COLOSSUS_19_S2 .text+8  t.S:2
              0008 40800000  R_COLOSSUS_19_S2 .text+8  t.S:3
              000c 11000000  R_COLOSSUS_19_S2 .text+12  t.S:4
              0010 11000000  R_COLOSSUS_19_S2 .text+16  t.S:5
        "#]],
    );
}

#[test]
fn a_forward_distance_chooses_the_form_as_if_it_were_written_out() {
    assert_eq!(
        words("add $m0, $m1, 2f - 1f\n1: nop; nop\n2:"),
        "22100008 19e00000 19e00000"
    );
    assert_eq!(words("add $m0, $m1, big\n.set big, 40000"), "20109c40");
}

#[test]
fn operators_bind_as_in_the_gnu_assembler() {
    let value = |text: &str| words(&format!(".int {text}"));
    assert_eq!(value("1 + 2 << 3"), "00000011");
    assert_eq!(value("1 + 2 | 4"), "00000007");
    assert_eq!(value("7 & 3 + 1"), "00000004");
    assert_eq!(value("-(3 - 5) * 2"), "00000004");
    assert_eq!(value("~0 >> 60"), "0000000f");
    assert_eq!(value("1 < 2 && 3 >= 4 || !0"), "00000001");
    assert_eq!(value("7 / 2 % 2 ^ 8"), "00000009");
    assert_eq!(value("0x10 + 0b11 + 010"), "0000001b");
    assert_eq!(value("-1.5h"), "0000be00");
}

#[test]
fn conditionals_nest_and_only_the_chosen_branch_counts() {
    let text = ".set x, 2\n.if x == 1\n.byte 1\n.error \"no\"\n.elseif x == 2\n.ifdef y\n.byte 2\n\
                .else\n.byte 3\n.endif\n.elseif 1\n.byte 4\n.else\n.byte 5\n.endif\n.ifndef y\n\
                .byte 6\n.endif\n.ifeq x - 2\n.byte 7\n.endif\n.ifnc \"a b\", a b\n.byte 8\n.endif";
    assert_eq!(words(text), "070603");
}

#[test]
fn a_macro_may_define_symbols_sections_and_macros() {
    let text = ".macro OUTER name, body:vararg\n.section .text.\\name, \"ax\"\n\\name\\()_\\@:\n\
                .macro INNER_\\name r\n \\body\n add \\r, \\r, \\@\n.endm\n INNER_\\name $m1\n.endm\n\
                OUTER one, nop; OUTER two \"nop; nop\"";
    check(
        text,
        expect![[r#"
            t.S:5:2: expected a statement, found a string
              in INNER_two from t.S:8
              in OUTER from t.S:10
        "#]],
    );
}

#[test]
fn blanks_that_a_preprocessor_leaves_in_registers_are_taken() {
    assert_eq!(
        words("ld64step $a2: 3, $mzero, $m8 +=, 1\nf16v4add $a0:1, $a2: 3, $a4: 5"),
        "1ef28201 58204002"
    );
}

#[test]
fn code_is_filled_with_nops_and_data_with_zeros() {
    assert_eq!(
        words("nop; .align 16; nop"),
        "19e00000 19e00000 19e00000 19e00000 19e00000"
    );
    assert_eq!(
        words(".byte 1; .p2align 3; exitz $m0"),
        "00000001 19e00000 43004000"
    );
    assert_eq!(
        words(".data; .byte 1; .align 4; .byte 2; .align 4, 0xff"),
        "00000001 ffffff02"
    );
}

#[test]
fn optimisation_turns_a_repeat_bundle_into_a_lone_repeat_where_that_aligns_the_body() {
    let body = "{ rpt $m0, 0 ; fnop }\n{ nop ; fnop }";
    assert_eq!(
        words(&format!(".allow_optimizations\nnop\n{body}")),
        "19e00000 4300a000 99e00000 9ad00000"
    );
    assert_eq!(
        words(&format!(".allow_optimizations\n{body}")),
        "c300a000 9ad00000 99e00000 9ad00000"
    );
    assert_eq!(
        words(&format!("nop\n{body}")),
        "t.S:2:3: a repeat body starts at a multiple of 8 bytes; this one is at 0xc"
    );
    assert_eq!(
        words(".allow_optimizations\n{ fnop ; nop }"),
        "99e00000 9ad00000"
    );
    assert_eq!(
        listing(&format!(".allow_optimizations\nnop\n{body}"))
            .lines()
            .next(),
        { Some("section .text code align 8 size 16") }
    );
}

#[test]
fn switches_let_through_what_is_refused_otherwise() {
    assert_eq!(words(".allow_invalid_repeat\nrpt 5, 7"), "40000507");
    assert_eq!(words(".allow_invalid_operands\nbri -4"), "4087fffc");
    assert_eq!(words(".allow_invalid_execution_mode\nsync 2"), "41800002");
    assert_eq!(
        words(".allow_invalid_execution_mode\n.error_on_invalid_execution_mode\nsync 2"),
        "t.S:3:1: sync is for the supervisor; this is worker code"
    );
    let text = ".warn_on_invalid_bundles\n{ setzi $m0, 1 ; setzi $m1, 1 }";
    let assembled = assemble_with_warnings(&source(text, Mode::Worker)).expect("assembles");
    assert_eq!(assembled.warnings.len(), 1);
    assert_eq!(assembled.object.sections[0].bytes[7], 0x99);
}

#[test]
fn the_mode_directives_decide_which_registers_exist() {
    assert_eq!(
        words(".supervisor\nget $m0, $TILE_ID\n.worker\nget $m0, $WSR"),
        "41000003 41000001"
    );
    assert_eq!(
        words(".supervisor\nget $m0, $WSR"),
        "t.S:2:10: a supervisor has no $WSR"
    );
    assert!(assemble(&source("get $m0, $TILE_ID", Mode::Supervisor)).is_ok());
}

#[test]
fn symbols_given_beside_the_source_are_constants() {
    let mut with = source(
        "ldconst $m0, LIMIT\n.if LIMIT > 5\nnop\n.endif",
        Mode::Worker,
    );
    with.symbols.push(("LIMIT".to_owned(), 6));
    let object = assemble(&with).expect("assembles");
    assert_eq!(object.sections[0].size, 8);
    assert!(object.symbols.is_empty());
}

#[test]
fn a_key_covers_statements_and_lines_but_not_comments_or_folders() {
    let base = source("# 1 \"/a/k.S\"\n nop ; exitz $m0 // end\n", Mode::Worker);
    let same = source("# 1 \"/b/c/k.S\"\n nop;   exitz  $m0\n", Mode::Worker);
    assert_eq!(key(&base), key(&same));
    let mut other = base.clone();
    other.symbols.push(("x".to_owned(), 1));
    let changed = [
        other,
        source(&base.text.replace("$m0", "$m1"), Mode::Worker),
        source(&base.text.replace("# 1", "# 2"), Mode::Worker),
        source(&base.text.replace("k.S", "l.S"), Mode::Worker),
        source(&base.text, Mode::Supervisor),
        source(&base.text.replace("nop ;", "nop ; nop ;"), Mode::Worker),
    ];
    for changed in &changed {
        assert_ne!(key(&base), key(changed), "{changed:?}");
    }
}

#[test]
fn the_same_source_gives_the_same_bytes() {
    let text = include_str!("golden/worker.s");
    let bytes = || {
        assemble(&source(text, Mode::Worker))
            .expect("assembles")
            .to_bytes()
    };
    assert_eq!(bytes(), bytes());
}

#[test]
fn no_text_makes_the_assembler_panic() {
    let parts = [
        ".macro m a\n",
        ".endm\n",
        "m ",
        "\\a",
        "{",
        "}",
        ";",
        "\n",
        "nop",
        "fnop",
        " $m0",
        ",",
        "1:",
        "1b",
        "1f",
        ".if ",
        ".else",
        ".endif\n",
        ".rept 2\n",
        ".endr\n",
        ".align 8\n",
        "rpt 1, ",
        "x:",
        "x",
        " - ",
        "(",
        ")",
        "\"",
        "ü",
        ".section ",
        "\\",
        "@",
        "0x",
        "99999999999999999999",
        ".set x, ",
        ".size x, ",
        ".globl x\n",
        "/*",
        "*/",
        "#",
        "ldconst $m0, ",
        ".word ",
        ".",
        "<<",
        "64",
        ".space ",
        "-1",
        "\n# 3 \"f\"\n",
        "sendpicp 1, 2, 3, 0",
        ".half 1.0h",
        ".elseif ",
        ".bss\n",
        "=",
    ];
    arbtest::arbtest(|u| {
        let mut text = String::new();
        for _ in 0..u.int_in_range(0..=40)? {
            text.push_str(u.choose(&parts)?);
        }
        if let Ok(object) = assemble(&source(&text, Mode::Worker)) {
            let bytes = object
                .to_bytes()
                .expect("objects of the assembler can be written");
            let read = tilekiln_compiler::object::Object::from_bytes(&bytes);
            assert_eq!(read.as_ref(), Ok(&object));
        }
        let _ = key(&source(&text, Mode::Worker));
        Ok(())
    });
}
