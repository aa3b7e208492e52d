//! The linker: placement, garbage, relocations, refusals.

use std::ops::Range;

use expect_test::{Expect, expect};
use tilekiln_compiler::asm::{Mode, Source, assemble};
use tilekiln_compiler::image::{LinkInput, Linked, link};
use tilekiln_compiler::object::Object;

fn object(name: &str, text: &str) -> Object {
    let source = Source {
        name: name.to_owned(),
        text: text.to_owned(),
        symbols: Vec::new(),
        mode: Mode::Supervisor,
    };
    assemble(&source).unwrap_or_else(|errors| panic!("{errors}"))
}

/// The one region of most tests.
const REGION: &[Range<u32>] = std::slice::from_ref(&(0x5_0000..0x5_4000));

/// Links `objects` from `start` into `regions`.
fn try_link(objects: &[Object], regions: &[Range<u32>]) -> Result<Linked, String> {
    let objects: Vec<&Object> = objects.iter().collect();
    let input = LinkInput {
        objects: &objects,
        entry: "start",
        required: &[],
        regions,
        fixed: &[(".text.fixed", 0x6_0000)],
        symbols: &[("window", 0x5_8000)],
    };
    link(&input).map_err(|error| error.to_string())
}

/// The sections and symbols in their places, or the reason why not.
fn map(objects: &[Object], regions: &[Range<u32>]) -> String {
    let linked = match try_link(objects, regions) {
        Ok(linked) => linked,
        Err(error) => return format!("{error}\n"),
    };
    let mut out = String::new();
    for section in &linked.sections {
        let (address, size) = (section.address, section.size);
        out += &format!("{address:x} {size:3} {} {}\n", section.object, section.name);
    }
    for symbol in &linked.symbols {
        out += &format!("{:x} {}\n", symbol.address, symbol.name);
    }
    for segment in &linked.segments {
        out += &format!("segment {:x} {}\n", segment.address, segment.bytes.len());
    }
    let sizes = linked.sizes;
    out + &format!(
        "code {} data {} dropped {}\n",
        sizes.code, sizes.data, sizes.dropped
    )
}

#[track_caller]
fn check(sources: &[&str], regions: &[Range<u32>], want: Expect) {
    let name = |index: usize| format!("{}.o", char::from(b'a' + u8::try_from(index).unwrap_or(0)));
    let objects: Vec<_> = sources
        .iter()
        .enumerate()
        .map(|(index, text)| object(&name(index), text))
        .collect();
    want.assert_eq(&map(&objects, regions));
}

/// A section of `words` words that refers to each of `names`, with a global of its name.
fn section(name: &str, words: u32, names: &[&str]) -> String {
    let calls: String = names.iter().map(|name| format!(" bri {name}\n")).collect();
    let fill = words - u32::try_from(names.len()).unwrap_or(0);
    format!(
        ".section .text.{name}, \"ax\"\n.globl {name}\n{name}:\n{calls}.rept {fill}\n nop\n.endr\n"
    )
}

#[test]
fn sections_stand_in_object_order_code_before_data_and_only_if_needed() {
    let first = section("start", 3, &["table", "far"])
        + &section("unused", 9, &["missing"])
        + ".rodata\n.globl table\ntable: .long near, 2\n";
    let second = section("far", 1, &[]) + &section("near", 2, &[]) + &section("other", 4, &[]);
    check(
        &[&first, &second],
        REGION,
        expect![[r#"
        50000  12 a.o .text.start
        50010   4 b.o .text.far
        50018   8 b.o .text.near
        50020   8 a.o .rodata
        50000 start
        50010 far
        50018 near
        50020 table
        segment 50000 40
        code 24 data 8 dropped 52
    "#]],
    );
}

#[test]
fn the_entry_trampoline_and_fixed_sections_have_their_own_places() {
    let text = ".section .text.entry, \"ax\"\n.globl start\nstart: bri go\n bri fixed\n".to_owned()
        + &section("go", 2, &[])
        + &section("fixed", 2, &[]);
    check(
        &[&text],
        std::slice::from_ref(&(0x4_c000..0x4_d000)),
        expect![[r#"
        4c000   8 a.o .text.go
        4c010   8 a.o .text.entry
        60000   8 a.o .text.fixed
        4c000 go
        4c010 start
        60000 fixed
        segment 4c000 8
        segment 4c010 8
        segment 60000 8
        code 24 data 0 dropped 0
    "#]],
    );
}

#[test]
fn a_section_is_never_split_and_a_region_left_behind_stays_behind() {
    let text = section("start", 4, &["b", "c", "d"])
        + &section("b", 6, &[])
        + &section("c", 2, &[])
        + &section("d", 1, &[]);
    check(
        &[&text],
        &[0x5_0000..0x5_0020, 0x6_0000..0x6_0018, 0x7_0000..0x7_0100],
        expect![[r#"
            50000  16 a.o .text.start
            60000  24 a.o .text.b
            70000   8 a.o .text.c
            70008   4 a.o .text.d
            50000 start
            60000 b
            70000 c
            70008 d
            segment 50000 16
            segment 60000 24
            segment 70000 12
            code 52 data 0 dropped 0
        "#]],
    );
}

#[test]
fn repeat_bodies_and_aligned_data_keep_their_alignment() {
    let text = section("start", 1, &["b"])
        + &section("b", 1, &["t"])
        + ".rodata\n.byte 1\n.section .rodata.t, \"a\"\n.align 32\n.globl t\nt: .byte 2\n";
    check(
        &[&text],
        REGION,
        expect![[r#"
        50000   4 a.o .text.start
        50008   4 a.o .text.b
        50020   1 a.o .rodata.t
        50000 start
        50008 b
        50020 t
        segment 50000 12
        segment 50020 1
        code 8 data 1 dropped 1
    "#]],
    );
}

#[test]
fn addresses_reach_every_field() {
    let text = ".section .text.start, \"ax\"\n.globl start\nstart: setzi $m0, start\n bri start + 8\n\
                bri 1f\n run $m0, $m1, start\n call $lr, window\n setzi $m1, data + 2\n1: nop\n\
                .data\n.globl data\ndata: .long start, window + 4\n.byte small\n.byte 0\n\
                .half start@relative@16@s2\n.long start@abs18@s2\n.long start@abs19@s2\n\
                .long data@abs@21\n.quad start\n.long weak\n.weak weak\n.globl small\n.set small, 200\n";
    let linked = try_link(&[object("a.o", text)], REGION).expect("links");
    let words: Vec<String> = linked.segments[0]
        .bytes
        .chunks(4)
        .map(|chunk| {
            chunk
                .iter()
                .rev()
                .map(|byte| format!("{byte:02x}"))
                .collect()
        })
        .collect();
    expect![[r#"19050000 40814002 40814006 14011000 18a16000 1915001e 19e00000 00050000 00058004 100000c8 00014000 00014000 0005001c 00050000 00000000 00000000"#]].assert_eq(&words.join(" "));
}

#[test]
fn a_global_replaces_a_weak_definition_and_locals_stay_apart() {
    let first = section("start", 2, &["f", "helper"])
        + ".section .text.f, \"ax\"\n.weak f\nf: nop\n.section .text.h, \"ax\"\nhelper: nop\n";
    let second = section("f", 3, &["helper"]) + ".section .text.h2, \"ax\"\nhelper: nop\n nop\n";
    check(
        &[&first, &second],
        REGION,
        expect![[r#"
        50000   8 a.o .text.start
        50008   4 a.o .text.h
        50010  12 b.o .text.f
        50020   8 b.o .text.h2
        50000 start
        50008 helper
        50010 f
        50020 helper
        segment 50000 40
        code 32 data 0 dropped 4
    "#]],
    );
}

#[test]
fn a_missing_name_is_told_with_the_line_that_uses_it() {
    check(
        &[
            "# 20 \"k/gemm.S\"\n.section .text.start,\"ax\"\n.globl start\nstart:\n sans 0\n call $m0, nowhere\n sans 0\n",
        ],
        REGION,
        expect![[r#"
        gemm.S:24: .text.start uses nowhere, and no object defines it
    "#]],
    );
}

#[test]
fn names_that_are_missing_or_there_twice_are_refused() {
    check(
        &[&section("start", 1, &["nowhere"])],
        REGION,
        expect![[r#"
        a.o:4: .text.start uses nowhere, and no object defines it
    "#]],
    );
    check(
        &[&section("begin", 1, &[])],
        REGION,
        expect![[r#"
        start is required, and no object defines it
    "#]],
    );
    check(
        &[&section("start", 1, &[]), &section("start", 1, &[])],
        REGION,
        expect![[r#"
            start is defined in a.o and in b.o
        "#]],
    );
    check(
        &[&section("start", 1, &[]), &section("window", 1, &[])],
        REGION,
        expect![[r#"
            window is defined in the link's own symbols and in b.o
        "#]],
    );
    check(
        &[".globl start\n.set start, 4\n"],
        REGION,
        expect![[r#"
        the entry start is not in code
    "#]],
    );
}

#[test]
fn sections_that_fit_nowhere_are_refused_with_both_numbers() {
    let text = section("start", 4, &["big"]) + &section("big", 20, &[]);
    check(
        &[&text],
        &[0x5_0000..0x5_0020, 0x6_0000..0x6_0040],
        expect![[r#"
            .text.big of a.o needs 80 bytes; the regions have 80 left, 64 in one piece
        "#]],
    );
    check(
        &[&text],
        std::slice::from_ref(&(0x8_0000..0x9_0000)),
        expect![[r#"
        the region 0x80000 to 0x90000 is not executable memory, 0x4c000 to 0x80000
    "#]],
    );
    check(
        &[&text],
        &[0x5_0000..0x6_0000, 0x5_8000..0x5_9000],
        expect![[r#"
            the regions at 0x50000 and 0x58000 overlap
        "#]],
    );
    check(
        &[
            &(section("start", 1, &["fixed"]) + &section("fixed", 9, &[]) + &section("x", 1, &[])),
            ".section .text.fixed, \"ax\"\n.globl x2\nx2: nop\n",
        ],
        REGION,
        expect![[r#"
            50000   4 a.o .text.start
            60000  36 a.o .text.fixed
            50000 start
            60000 fixed
            segment 50000 4
            segment 60000 36
            code 40 data 0 dropped 8
        "#]],
    );
    check(
        &[&(section("start", 1, &["z"]) + ".bss\n.globl z\nz: .space 64\n")],
        REGION,
        expect![[r#"
            .bss of a.o holds 64 bytes of zeros; images only hold code and data
        "#]],
    );
}

#[test]
fn two_sections_at_one_fixed_place_are_refused() {
    let first = section("start", 2, &["fixed", "twin"]) + &section("fixed", 2, &[]);
    let second = ".section .text.fixed, \"ax\"\n.globl twin\ntwin: nop\n";
    check(
        &[&first, second],
        REGION,
        expect![[r#"
        .text.fixed of b.o at 0x60000 overlaps .text.fixed of a.o
    "#]],
    );
}

#[test]
fn values_out_of_range_are_refused_with_the_place() {
    let data = |datum: &str| {
        section("start", 1, &["d"]) + &format!(".data\n.globl d\nd: .byte 0, 0, 0, 0\n{datum}\n")
    };
    check(
        &[&data(".byte start")],
        REGION,
        expect![[r#"
        a.o cannot refer to start at 0x4 of .data: the value 0x50000 does not fit; R_COLOSSUS_8 takes 0x0 to 0xff
    "#]],
    );
    check(
        &[&data(".half window")],
        REGION,
        expect![[r#"
        a.o cannot refer to window at 0x4 of .data: the value 0x58000 does not fit; R_COLOSSUS_16 takes 0x0 to 0xffff
    "#]],
    );
    check(
        &[&data(".long start - 0x60000")],
        REGION,
        expect![[r#"
        a.o cannot refer to start at 0x4 of .data: the value -0x10000 does not fit; R_COLOSSUS_32 takes 0x0 to 0xffffffff
    "#]],
    );
    check(
        &[&data(".long start@abs19@s2 , 0\n.long d+2@abs19@s2")],
        REGION,
        expect![[r#"
            a.o cannot refer to d at 0xc of .data: the value 0x50006 is not a multiple of 4, which R_COLOSSUS_19_S2 counts in
        "#]],
    );
    check(
        &[
            &data(".half low@relative@16@s2"),
            ".globl low\n.set low, 0x4bffc\n",
        ],
        REGION,
        expect![[r#"
            a.o cannot refer to low at 0x4 of .data: the value 0x4bffc does not fit; R_COLOSSUS_RELATIVE_16_S2 takes 0x4c000 to 0x8bffc
        "#]],
    );
    check(
        &[" .globl start\nstart: bri start + 2\n"],
        REGION,
        expect![[r#"
            a.o cannot refer to start at 0x0 of .text: the value 0x50002 is not a multiple of 4, which R_COLOSSUS_19_S2 counts in
        "#]],
    );
}

#[test]
fn an_address_leads_back_to_its_source_line() {
    let text = "# 7 \"folder/k.S\"\n.section .text.start, \"ax\"\n.globl start\n\
                .type start, @function\nstart: nop\n nop\nagain: nop; nop\n bri again\n\
                .size start, . - start\n.section .text.next, \"ax\"\nnext: nop\n";
    let objects = [object("k.o", text)];
    let linked = try_link(&objects, REGION).expect("links");
    let show = |address: u32| match linked.origin(address) {
        None => "nothing".to_owned(),
        Some(at) => {
            let (symbol, offset) = (at.symbol.unwrap_or("-"), at.offset);
            format!(
                "{} {} {symbol}+{offset} {}:{}",
                at.object, at.section, at.file, at.line
            )
        }
    };
    assert_eq!(show(0x5_0000), "k.o .text.start start+0 k.S:10");
    assert_eq!(show(0x5_0007), "k.o .text.start start+7 k.S:11");
    assert_eq!(show(0x5_000c), "k.o .text.start start+12 k.S:12");
    assert_eq!(show(0x5_0010), "k.o .text.start start+16 k.S:13");
    assert_eq!(show(0x5_0014), "nothing");
    assert_eq!(show(0x4_ffff), "nothing");
    assert_eq!(linked.address("again"), Some(0x5_0008));
    assert_eq!(linked.entry, 0x5_0000);
}

#[test]
fn linking_twice_gives_the_same_program_and_a_readable_file() {
    let objects = [
        object("a.o", &section("start", 3, &["f"])),
        object("b.o", &section("f", 2, &[])),
    ];
    let first = try_link(&objects, REGION).expect("links");
    assert_eq!(Ok(&first), try_link(&objects, REGION).as_ref());
    let elf = first.to_elf().expect("can be written");
    assert_eq!(&elf[..4], b"\x7fELF");
}
