//! Objects as files: what other readers see, what comes back, what is refused.

use tilekiln_compiler::asm::{Mode, Source, assemble};
use tilekiln_compiler::object::{
    Binding, Object, ObjectError, Relocation, RelocationKind, Section, SectionKind, Symbol,
    SymbolKind, SymbolPlace, Target, executable,
};

fn object(text: &str) -> Object {
    let source = Source {
        name: "/some/folder/t.S".to_owned(),
        text: text.to_owned(),
        symbols: Vec::new(),
        mode: Mode::Worker,
    };
    assemble(&source).unwrap_or_else(|errors| panic!("{errors}"))
}

fn file(text: &str) -> Vec<u8> {
    object(text).to_bytes().expect("can be written")
}

const SMALL: &str = ".section .text.f, \"ax\"\n.globl f\n.type f, @function\nf: bri g\n bri 1f\n\
                     1: exitz $mzero\n.size f, . - f\n.data\nx: .long f, x\n.weak w\n.long w\n\
                     .bss\n.space 100\n";

fn half(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from(half(bytes, at)) | u32::from(half(bytes, at + 2)) << 16
}

#[test]
fn the_header_is_the_one_of_the_specification() {
    let bytes = file(SMALL);
    assert_eq!(
        &bytes[..9],
        b"\x7fELF\x01\x01\x01\xff\x00",
        "class, data, version, OSABI, ABI"
    );
    assert_eq!(half(&bytes, 16), 1, "e_type");
    assert_eq!(half(&bytes, 18), 248, "e_machine");
    assert_eq!(word(&bytes, 20), 1, "e_version");
    assert_eq!(word(&bytes, 24), 0, "e_entry");
    assert_eq!(word(&bytes, 36), 0x21, "e_flags");
    assert_eq!(half(&bytes, 40), 52, "e_ehsize");
    assert_eq!(half(&bytes, 42), 32, "e_phentsize");
    assert_eq!(half(&bytes, 46), 40, "e_shentsize");
}

#[test]
fn sections_stand_in_the_order_of_the_specification() {
    let bytes = file(SMALL);
    let (headers, count) = (word(&bytes, 32) as usize, usize::from(half(&bytes, 48)));
    let names = word(&bytes, headers + 40 * usize::from(half(&bytes, 50)) + 16) as usize;
    let mut shown = Vec::new();
    for index in 0..count {
        let at = headers + 40 * index;
        let name = &bytes[names + word(&bytes, at) as usize..];
        let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
        let field = |offset| word(&bytes, at + offset);
        shown.push(format!(
            "{} {} {:x} align {} link {} info {}",
            String::from_utf8_lossy(name),
            field(4),
            field(8),
            field(32),
            field(24),
            field(28)
        ));
    }
    let want = [
        " 0 0 align 0 link 0 info 0",
        ".text.f 1 6 align 4 link 0 info 0",
        ".data 1 3 align 1 link 0 info 0",
        ".bss 8 3 align 1 link 0 info 0",
        ".tilekiln.lines 1 0 align 4 link 0 info 0",
        ".tilekiln.digest 1 0 align 4 link 0 info 0",
        ".rela.text.f 4 40 align 4 link 8 info 1",
        ".rela.data 4 40 align 4 link 8 info 2",
        ".symtab 2 0 align 4 link 9 info 6",
        ".strtab 3 0 align 1 link 0 info 0",
        ".shstrtab 3 0 align 1 link 0 info 0",
    ];
    assert_eq!(shown, want);
}

#[test]
fn what_is_written_is_what_is_read() {
    for text in [
        SMALL,
        "",
        include_str!("golden/worker.s"),
        include_str!("golden/data.s"),
    ] {
        let object = object(text);
        let bytes = object.to_bytes().expect("can be written");
        assert_eq!(Object::from_bytes(&bytes).as_ref(), Ok(&object));
        assert_eq!(Object::from_elf("other", &bytes).as_ref(), Ok(&object));
    }
    assert_eq!(object(SMALL).name, "t.S", "no folder reaches the object");
}

#[test]
fn a_file_with_any_byte_changed_is_refused() {
    let bytes = file(SMALL);
    for at in 0..bytes.len() {
        for bit in [0x01, 0x80] {
            let mut changed = bytes.clone();
            changed[at] ^= bit;
            assert!(Object::from_bytes(&changed).is_err(), "byte {at}");
            // Without the digest's protection it may be read, but must not bring the reader down.
            let _ = Object::from_elf("x", &changed);
        }
        assert!(Object::from_bytes(&bytes[..at]).is_err(), "cut at {at}");
    }
    let mut changed = bytes.clone();
    changed[0x34] ^= 1; // The first word of code.
    assert!(matches!(
        Object::from_bytes(&changed),
        Err(ObjectError::Digest { .. })
    ));
}

#[test]
fn objects_for_other_machines_are_refused() {
    let refused = |at: usize, value: u8| {
        let mut bytes = file(SMALL);
        bytes[at] = value;
        Object::from_elf("x", &bytes)
            .expect_err("refused")
            .to_string()
    };
    assert_eq!(
        refused(18, 62),
        "the object is for machine 62; the tile is 248"
    );
    assert_eq!(
        refused(36, 1),
        "the object is for architecture 0x1; the tile is 0x21"
    );
    assert_eq!(refused(16, 2), "the file is of ELF type 2; an object is 1");
    assert!(refused(4, 2).starts_with("the file is not a sound ELF32 object"));
    assert!(refused(5, 2).starts_with("the file is not a sound ELF32 object"));
}

#[test]
fn a_relocation_of_an_undefined_kind_is_refused() {
    let mut bytes = file(".word outside");
    let rela = (0..bytes.len() - 8).find(|at| {
        word(&bytes, *at) == 0 && word(&bytes, at + 4) & 0xff == 4 && word(&bytes, at + 4) >> 8 == 3
    });
    bytes[rela.expect("a relocation") + 4] = 11;
    let error = Object::from_elf("x", &bytes).expect_err("refused");
    assert_eq!(
        error.to_string(),
        ".text has a relocation of kind 11, which does not exist"
    );
}

#[test]
fn an_object_built_by_hand_may_have_its_symbols_in_any_order() {
    let symbol = |name: &str, binding| Symbol {
        name: name.to_owned(),
        place: SymbolPlace::Section {
            section: 0,
            offset: 0,
        },
        size: 0,
        kind: SymbolKind::None,
        binding,
    };
    let to = |symbol, offset| Relocation {
        offset,
        kind: RelocationKind::Bits32,
        target: Target::Symbol(symbol),
        addend: -4,
    };
    let section = Section {
        name: ".data".to_owned(),
        kind: SectionKind::Data,
        alignment: 4,
        bytes: vec![0; 8],
        size: 8,
        relocations: vec![to(0, 0), to(1, 4)],
        lines: Vec::new(),
    };
    let symbols = vec![
        symbol("global", Binding::Global),
        symbol("local", Binding::Local),
    ];
    let object = Object {
        sections: vec![section],
        symbols,
        ..Object::default()
    };
    let read = Object::from_bytes(&object.to_bytes().expect("can be written")).expect("reads");
    let named: Vec<_> = read.sections[0]
        .relocations
        .iter()
        .map(|relocation| match relocation.target {
            Target::Symbol(index) => read.symbols[index].name.as_str(),
            Target::Section(_) => "a section",
        })
        .collect();
    assert_eq!(named, ["global", "local"]);
}

#[test]
fn an_object_that_elf_cannot_tell_is_refused() {
    let good = object(SMALL);
    let refused = |change: fn(&mut Object)| {
        let mut object = good.clone();
        change(&mut object);
        object.to_bytes().expect_err("refused").to_string()
    };
    assert_eq!(
        refused(|object| object.sections[0].size = 5),
        ".text.f is 5 bytes long and has 12 bytes of contents"
    );
    assert_eq!(
        refused(|object| object.sections[0].alignment = 3),
        ".text.f has an alignment of 3, which is no power of 2"
    );
    assert_eq!(
        refused(|object| object.symbols.clear()),
        ".text.f refers to a section or symbol that is not in the object"
    );
    assert_eq!(
        refused(|object| object.name.push('\0')),
        "the name t.S\0 cannot be written"
    );
}

#[test]
fn an_image_is_an_executable_with_a_segment_for_each_run_of_bytes() {
    let parts: [(u32, &[u8], bool); 2] = [(0x4_c010, &[1, 2, 3, 4], true), (0x5_0000, &[5], false)];
    let bytes = executable(0x4_c010, &parts).expect("can be written");
    assert_eq!(
        (half(&bytes, 16), half(&bytes, 44)),
        (2, 2),
        "e_type, e_phnum"
    );
    assert_eq!(word(&bytes, 24), 0x4_c010, "e_entry");
    for (index, (address, data, code)) in parts.iter().enumerate() {
        let at = 52 + 32 * index;
        let offset = word(&bytes, at + 4) as usize;
        assert_eq!(word(&bytes, at), 1, "PT_LOAD");
        assert_eq!(
            (word(&bytes, at + 8), word(&bytes, at + 12)),
            (*address, *address)
        );
        assert_eq!(&bytes[offset..offset + data.len()], *data);
        assert_eq!(word(&bytes, at + 24), if *code { 5 } else { 6 }, "flags");
        assert_eq!(word(&bytes, at + 28), 4, "alignment");
    }
}
