//! Writes objects and tile images as ELF32. [isa-encoding §10]
//!
//! Besides what every reader knows, an object carries two sections of ours that are no part of the
//! program: [`LINES`], the source line of each word, and [`DIGEST`], the SHA-256 of the file with
//! that section's own bytes zero.

use object::elf;
use object::write::StringId;
use object::write::elf::{
    FileHeader, ProgramHeader, Rel, SectionHeader, SectionIndex, Sym, Writer,
};
use tilekiln_bundle::Digest;

use super::{
    Binding, FLAGS, MACHINE, OS_ABI, Object, ObjectError, Section, SectionKind, Symbol, SymbolKind,
    SymbolPlace, Target,
};

/// The section that holds the table of source lines.
pub(super) const LINES: &str = ".tilekiln.lines";

/// The section that holds the file's digest.
pub(super) const DIGEST: &str = ".tilekiln.digest";

/// Bytes of the digest.
pub(super) const DIGEST_BYTES: usize = 32;

/// Where `e_phentsize` stands in the header.
const E_PHENTSIZE: usize = 42;

/// A tile image as an executable ELF: one loadable segment a run of bytes.
///
/// Each part is its address, its bytes, and whether it holds code.
///
/// # Errors
///
/// [`ObjectError::TooLarge`] when the file would pass 4 GiB or 65,535 segments.
pub fn executable(entry: u32, parts: &[(u32, &[u8], bool)]) -> Result<Vec<u8>, ObjectError> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(object::Endianness::Little, false, &mut bytes);
    let count = u16::try_from(parts.len()).map_err(|_| ObjectError::TooLarge)?;
    writer.reserve_file_header();
    writer.reserve_program_headers(count.into());
    let offsets: Vec<usize> = parts
        .iter()
        .map(|(_, data, _)| writer.reserve(data.len(), 4))
        .collect();
    u32::try_from(writer.reserved_len()).map_err(|_| ObjectError::TooLarge)?;
    header(&mut writer, elf::ET_EXEC, entry)?;
    writer.write_align_program_headers();
    for ((address, data, code), offset) in parts.iter().zip(&offsets) {
        writer.write_program_header(&ProgramHeader {
            p_type: elf::PT_LOAD,
            p_flags: elf::PF_R | if *code { elf::PF_X } else { elf::PF_W },
            p_offset: *offset as u64,
            p_vaddr: u64::from(*address),
            p_paddr: u64::from(*address),
            p_filesz: data.len() as u64,
            p_memsz: data.len() as u64,
            p_align: 4,
        });
    }
    for ((_, data, _), offset) in parts.iter().zip(&offsets) {
        writer.pad_until(*offset);
        writer.write(data);
    }
    Ok(bytes)
}

fn header(writer: &mut Writer<'_>, e_type: u16, entry: u32) -> Result<(), ObjectError> {
    let header = FileHeader {
        os_abi: OS_ABI,
        abi_version: 0,
        e_type,
        e_machine: MACHINE,
        e_entry: u64::from(entry),
        e_flags: FLAGS,
    };
    writer
        .write_file_header(&header)
        .map_err(|_| ObjectError::TooLarge)
}

/// The object as an ELF file with its digest in it.
pub(super) fn write(object: &Object) -> Result<Vec<u8>, ObjectError> {
    check(object)?;
    let lines = lines(object);
    let rela_names: Vec<String> = object
        .sections
        .iter()
        .map(|section| format!(".rela{}", section.name))
        .collect();
    let mut bytes = Vec::new();
    let mut plan = Plan::new(object, &lines, &rela_names, &mut bytes);
    let digest_at = plan.reserve()?;
    plan.write()?;
    // The crate leaves the size of a program header out where there is none.
    bytes[E_PHENTSIZE..E_PHENTSIZE + 2].copy_from_slice(&32u16.to_le_bytes());
    let Digest(digest) = Digest::of(&bytes);
    bytes[digest_at..digest_at + DIGEST_BYTES].copy_from_slice(&digest);
    Ok(bytes)
}

/// Whether the object can be told in ELF at all.
fn check(object: &Object) -> Result<(), ObjectError> {
    let names = object.sections.iter().map(|section| &section.name);
    let names = names.chain(object.symbols.iter().map(|symbol| &symbol.name));
    for name in names.chain([&object.name]) {
        if name.contains('\0') {
            return Err(ObjectError::BadName(name.clone()));
        }
    }
    // The upper 24 bits of `r_info` hold the symbol.
    let symbols = object.sections.len() + object.symbols.len() + 2;
    if symbols >= 1 << 24 || object.sections.len() * 2 + 8 >= usize::from(elf::SHN_LORESERVE) {
        return Err(ObjectError::TooLarge);
    }
    for section in &object.sections {
        let known = |target| match target {
            Target::Section(index) => index < object.sections.len(),
            Target::Symbol(index) => index < object.symbols.len(),
        };
        if !section
            .relocations
            .iter()
            .all(|relocation| known(relocation.target))
        {
            return Err(ObjectError::BadReference(section.name.clone()));
        }
        if section.kind != SectionKind::Zero && section.bytes.len() != section.size as usize {
            return Err(ObjectError::BadSize {
                section: section.name.clone(),
                size: section.size,
                bytes: section.bytes.len(),
            });
        }
        if !section.alignment.is_power_of_two() {
            return Err(ObjectError::BadAlignment {
                section: section.name.clone(),
                alignment: section.alignment,
            });
        }
    }
    Ok(())
}

/// The table of source lines: files, then for each section its marks; little-endian words.
fn lines(object: &Object) -> Vec<u8> {
    let mut out = Vec::new();
    let mut word = |value: u32, bytes: &[u8]| {
        out.extend_from_slice(&value.to_le_bytes());
        out.extend_from_slice(bytes);
    };
    let length = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
    word(length(object.files.len()), &[]);
    for file in &object.files {
        word(length(file.len()), file.as_bytes());
    }
    for section in &object.sections {
        word(length(section.lines.len()), &[]);
        for mark in &section.lines {
            word(mark.offset, &[]);
            word(mark.file, &[]);
            word(mark.line, &[]);
        }
    }
    out
}

/// What has been reserved for one section.
struct Reserved<'a> {
    section: &'a Section,
    name: StringId,
    index: SectionIndex,
    offset: usize,
    rela: Option<(StringId, SectionIndex, usize)>,
}

/// An ELF file while it is laid out and written.
struct Plan<'a> {
    object: &'a Object,
    lines: &'a [u8],
    rela_names: &'a [String],
    writer: Writer<'a>,
    sections: Vec<Reserved<'a>>,
    /// Names, indices and offsets of our own two sections.
    ours: Vec<(StringId, usize, usize)>,
    file_name: Option<StringId>,
    /// The symbols, locals first, and their names.
    symbols: Vec<(&'a Symbol, StringId)>,
    /// The ELF index of each symbol of the object.
    numbers: Vec<u32>,
}

impl<'a> Plan<'a> {
    fn new(
        object: &'a Object,
        lines: &'a [u8],
        rela_names: &'a [String],
        bytes: &'a mut Vec<u8>,
    ) -> Self {
        let writer = Writer::new(object::Endianness::Little, false, bytes);
        Self {
            object,
            lines,
            rela_names,
            writer,
            sections: Vec::new(),
            ours: Vec::new(),
            file_name: None,
            symbols: Vec::new(),
            numbers: Vec::new(),
        }
    }

    /// Lays everything out; returns where the digest will be.
    fn reserve(&mut self) -> Result<usize, ObjectError> {
        let writer = &mut self.writer;
        writer.reserve_file_header();
        writer.reserve_null_section_index();
        for section in &self.object.sections {
            let name = writer.add_section_name(section.name.as_bytes());
            let index = writer.reserve_section_index();
            self.sections.push(Reserved {
                section,
                name,
                index,
                offset: 0,
                rela: None,
            });
        }
        for (name, length) in [(LINES, self.lines.len()), (DIGEST, DIGEST_BYTES)] {
            let name = writer.add_section_name(name.as_bytes());
            writer.reserve_section_index();
            self.ours.push((name, 0, length));
        }
        for (reserved, name) in self.sections.iter_mut().zip(self.rela_names) {
            if !reserved.section.relocations.is_empty() {
                let name = writer.add_section_name(name.as_bytes());
                reserved.rela = Some((name, writer.reserve_section_index(), 0));
            }
        }
        self.reserve_symbols();
        let writer = &mut self.writer;
        writer.reserve_symtab_section_index();
        writer.reserve_strtab_section_index();
        writer.reserve_shstrtab_section_index();
        for reserved in &mut self.sections {
            let alignment = reserved.section.alignment as usize;
            reserved.offset = writer.reserve(reserved.section.bytes.len(), alignment);
        }
        for (_, offset, length) in &mut self.ours {
            *offset = writer.reserve(*length, 4);
        }
        for reserved in &mut self.sections {
            if let Some((_, _, offset)) = &mut reserved.rela {
                *offset = writer.reserve_relocations(reserved.section.relocations.len(), true);
            }
        }
        writer.reserve_symtab();
        writer.reserve_strtab();
        writer.reserve_shstrtab();
        writer.reserve_section_headers();
        u32::try_from(writer.reserved_len()).map_err(|_| ObjectError::TooLarge)?;
        Ok(self.ours[1].1)
    }

    /// The file, the sections, then the object's own symbols with locals first.
    fn reserve_symbols(&mut self) {
        self.file_name = Some(self.writer.add_string(self.object.name.as_bytes()));
        self.writer.reserve_symbol_index(None);
        for reserved in &self.sections {
            self.writer.reserve_symbol_index(Some(reserved.index));
        }
        self.numbers = vec![0; self.object.symbols.len()];
        for local in [true, false] {
            for (index, symbol) in self.object.symbols.iter().enumerate() {
                if (symbol.binding == Binding::Local) == local {
                    let name = self.writer.add_string(symbol.name.as_bytes());
                    self.numbers[index] = self.writer.reserve_symbol_index(None).0;
                    self.symbols.push((symbol, name));
                }
            }
        }
    }

    fn write(&mut self) -> Result<(), ObjectError> {
        header(&mut self.writer, elf::ET_REL, 0)?;
        for reserved in &self.sections {
            if !reserved.section.bytes.is_empty() {
                self.writer.pad_until(reserved.offset);
                self.writer.write(&reserved.section.bytes);
            }
        }
        let contents: [&[u8]; 2] = [self.lines, &[0; DIGEST_BYTES]];
        for ((_, offset, _), bytes) in self.ours.iter().zip(contents) {
            self.writer.pad_until(*offset);
            self.writer.write(bytes);
        }
        self.write_relocations();
        self.write_symbols();
        self.writer.write_strtab();
        self.writer.write_shstrtab();
        self.write_section_headers();
        Ok(())
    }

    fn write_relocations(&mut self) {
        for reserved in &self.sections {
            if reserved.rela.is_none() {
                continue;
            }
            self.writer.write_align_relocation();
            for relocation in &reserved.section.relocations {
                let r_sym = match relocation.target {
                    // Null and the file's name come before the sections.
                    Target::Section(index) => u32::try_from(index + 2).unwrap_or(0),
                    Target::Symbol(index) => self.numbers[index],
                };
                self.writer.write_relocation(
                    true,
                    &Rel {
                        r_offset: u64::from(relocation.offset),
                        r_sym,
                        r_type: relocation.kind.number(),
                        r_addend: i64::from(relocation.addend),
                    },
                );
            }
        }
    }

    fn write_symbols(&mut self) {
        self.writer.write_null_symbol();
        let plain = |name, section, st_info| Sym {
            name,
            section,
            st_info,
            st_other: 0,
            st_shndx: elf::SHN_ABS,
            st_value: 0,
            st_size: 0,
        };
        let local = |kind| elf::STB_LOCAL << 4 | kind;
        self.writer
            .write_symbol(&plain(self.file_name, None, local(elf::STT_FILE)));
        for reserved in &self.sections {
            let symbol = plain(None, Some(reserved.index), local(elf::STT_SECTION));
            self.writer.write_symbol(&symbol);
        }
        for (symbol, name) in &self.symbols {
            let section = |index: usize| self.sections.get(index).map(|reserved| reserved.index);
            let (section, st_shndx, value) = match symbol.place {
                SymbolPlace::Undefined => (None, elf::SHN_UNDEF, 0),
                SymbolPlace::Absolute(value) => (None, elf::SHN_ABS, value),
                SymbolPlace::Section {
                    section: index,
                    offset,
                } => (section(index), 0, offset),
            };
            let binding = match symbol.binding {
                Binding::Local => elf::STB_LOCAL,
                Binding::Global => elf::STB_GLOBAL,
                Binding::Weak => elf::STB_WEAK,
            };
            let kind = match symbol.kind {
                SymbolKind::None => elf::STT_NOTYPE,
                SymbolKind::Object => elf::STT_OBJECT,
                SymbolKind::Function => elf::STT_FUNC,
            };
            let st_info = binding << 4 | kind;
            self.writer.write_symbol(&Sym {
                st_shndx,
                st_value: u64::from(value),
                st_size: u64::from(symbol.size),
                ..plain(Some(*name), section, st_info)
            });
        }
    }

    fn write_section_headers(&mut self) {
        self.writer.write_null_section_header();
        for Reserved {
            section,
            name,
            offset,
            ..
        } in &self.sections
        {
            let (sh_type, flags) = match section.kind {
                SectionKind::Code => (elf::SHT_PROGBITS, elf::SHF_ALLOC | elf::SHF_EXECINSTR),
                SectionKind::Data => (elf::SHT_PROGBITS, elf::SHF_ALLOC | elf::SHF_WRITE),
                SectionKind::ReadOnly => (elf::SHT_PROGBITS, elf::SHF_ALLOC),
                SectionKind::Zero => (elf::SHT_NOBITS, elf::SHF_ALLOC | elf::SHF_WRITE),
            };
            let alignment = section.alignment.into();
            let size = section.size.into();
            let mut header = section_header(*name, sh_type, *offset, size, alignment);
            header.sh_flags = flags.into();
            self.writer.write_section_header(&header);
        }
        for (name, offset, length) in &self.ours {
            let header = section_header(*name, elf::SHT_PROGBITS, *offset, *length as u64, 4);
            self.writer.write_section_header(&header);
        }
        let symtab = self.writer.symtab_index();
        for Reserved {
            section,
            index,
            rela,
            ..
        } in &self.sections
        {
            if let Some((name, _, offset)) = rela {
                let count = section.relocations.len();
                self.writer
                    .write_relocation_section_header(*name, *index, symtab, *offset, count, true);
            }
        }
        let locals = self
            .symbols
            .iter()
            .filter(|(symbol, _)| symbol.binding == Binding::Local);
        let locals = 2 + self.sections.len() + locals.count();
        self.writer
            .write_symtab_section_header(u32::try_from(locals).unwrap_or(0));
        self.writer.write_strtab_section_header();
        self.writer.write_shstrtab_section_header();
    }
}

fn section_header(
    name: StringId,
    sh_type: u32,
    offset: usize,
    size: u64,
    alignment: u64,
) -> SectionHeader {
    SectionHeader {
        name: Some(name),
        sh_type,
        sh_flags: 0,
        sh_addr: 0,
        sh_offset: offset as u64,
        sh_size: size,
        sh_link: 0,
        sh_info: 0,
        sh_addralign: alignment,
        sh_entsize: 0,
    }
}
