//! Reads objects from ELF32, ours and other tools'.

use object::LittleEndian as LE;
use object::elf::{self, FileHeader32, Rela32, SectionHeader32, Sym32};
use object::read::SectionIndex;
use object::read::elf::{FileHeader as _, SectionHeader as _, SectionTable, Sym as _};
use tilekiln_bundle::Digest;

use super::elf::{DIGEST, DIGEST_BYTES, LINES};
use super::{
    ARCHITECTURE_MASK, Binding, FLAGS, LineMark, MACHINE, Object, Relocation, RelocationKind,
    Section, SectionKind, Symbol, SymbolKind, SymbolPlace, Target,
};

/// Why a file is no object of ours, or an object no file.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ObjectError {
    /// Not an ELF32 file for little-endian machines, or a damaged one.
    #[error("the file is not a sound ELF32 object: {0}")]
    Elf(String),
    /// For another machine.
    #[error("the object is for machine {found}; the tile is {MACHINE}")]
    Machine {
        /// Its `e_machine`.
        found: u16,
    },
    /// For another chip of the family.
    #[error("the object is for architecture {found:#x}; the tile is {FLAGS:#x}")]
    Architecture {
        /// The low byte of its `e_flags`.
        found: u32,
    },
    /// An executable or a library.
    #[error("the file is of ELF type {found}; an object is {expected}", expected = elf::ET_REL)]
    Type {
        /// Its `e_type`.
        found: u16,
    },
    /// The file carries no digest.
    #[error("the object carries no digest")]
    NoDigest,
    /// The file is not what was written.
    #[error("the object's digest is {found}; its contents have {expected}")]
    Digest {
        /// The one it carries, in hex.
        found: String,
        /// The one of its contents, in hex.
        expected: String,
    },
    /// A relocation of a kind the specification does not define.
    #[error("{section} has a relocation of kind {number}, which does not exist")]
    RelocationKind {
        /// The section.
        section: String,
        /// The kind's number.
        number: u32,
    },
    /// Relocations without addends.
    #[error("{0} has relocations without addends")]
    NoAddends(String),
    /// A section refers to something that is not there.
    #[error("{0} refers to a section or symbol that is not in the object")]
    BadReference(String),
    /// A name that ELF cannot hold.
    #[error("the name {0} cannot be written")]
    BadName(String),
    /// A section whose length and contents differ.
    #[error("{section} is {size} bytes long and has {bytes} bytes of contents")]
    BadSize {
        /// The section.
        section: String,
        /// Its length.
        size: u32,
        /// Its contents.
        bytes: usize,
    },
    /// An alignment that is no power of two.
    #[error("{section} has an alignment of {alignment}, which is no power of 2")]
    BadAlignment {
        /// The section.
        section: String,
        /// Its alignment.
        alignment: u32,
    },
    /// More than ELF32 can hold.
    #[error("the object is larger than ELF32 can tell")]
    TooLarge,
}

impl From<object::read::Error> for ObjectError {
    fn from(error: object::read::Error) -> Self {
        Self::Elf(error.to_string().to_lowercase())
    }
}

type Sections<'a> = SectionTable<'a, FileHeader32<LE>>;

/// Checks the digest that `bytes` carry.
pub(super) fn check_digest(bytes: &[u8]) -> Result<(), ObjectError> {
    let (_, sections) = open(bytes)?;
    let mut at = None;
    for section in sections.iter() {
        if sections.section_name(LE, section)? == DIGEST.as_bytes() {
            at = section.file_range(LE);
        }
    }
    let range = at.and_then(|(start, length)| {
        let start = usize::try_from(start).ok()?;
        (length == DIGEST_BYTES as u64).then_some(start..start.checked_add(DIGEST_BYTES)?)
    });
    let range = range.ok_or(ObjectError::NoDigest)?;
    let found = bytes.get(range.clone()).ok_or(ObjectError::NoDigest)?;
    let mut blank = bytes.to_vec();
    blank[range].fill(0);
    let Digest(expected) = Digest::of(&blank);
    if found == expected {
        return Ok(());
    }
    Err(ObjectError::Digest {
        found: hex(found),
        expected: hex(&expected),
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn open(bytes: &[u8]) -> Result<(&FileHeader32<LE>, Sections<'_>), ObjectError> {
    let header = FileHeader32::<LE>::parse(bytes)?;
    if !header.is_little_endian() {
        return Err(ObjectError::Elf("it is big-endian".to_owned()));
    }
    let machine = header.e_machine(LE);
    if machine != MACHINE {
        return Err(ObjectError::Machine { found: machine });
    }
    let architecture = header.e_flags(LE) & ARCHITECTURE_MASK;
    if architecture != FLAGS {
        return Err(ObjectError::Architecture {
            found: architecture,
        });
    }
    if header.e_type(LE) != elf::ET_REL {
        return Err(ObjectError::Type {
            found: header.e_type(LE),
        });
    }
    Ok((header, header.sections(LE, bytes)?))
}

/// Reads an object; `name` is what it is called when it does not say itself.
pub(super) fn read(name: &str, bytes: &[u8]) -> Result<Object, ObjectError> {
    let (_, sections) = open(bytes)?;
    let mut reader = Reader {
        bytes,
        sections,
        object: Object {
            name: name.to_owned(),
            ..Object::default()
        },
        section_map: Vec::new(),
        targets: Vec::new(),
    };
    reader.read_sections()?;
    reader.read_symbols()?;
    reader.read_relocations()?;
    reader.read_lines()?;
    Ok(reader.object)
}

struct Reader<'a> {
    bytes: &'a [u8],
    sections: Sections<'a>,
    object: Object,
    /// The object's index of each ELF section that is part of the program.
    section_map: Vec<Option<usize>>,
    /// What each ELF symbol is to a relocation.
    targets: Vec<Option<Target>>,
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl Reader<'_> {
    fn read_sections(&mut self) -> Result<(), ObjectError> {
        for section in self.sections.iter() {
            let flags = section.sh_flags(LE);
            let program = flags & elf::SHF_ALLOC != 0
                && matches!(section.sh_type(LE), elf::SHT_PROGBITS | elf::SHT_NOBITS);
            self.section_map
                .push(program.then_some(self.object.sections.len()));
            if program {
                let section = self.section(section)?;
                self.object.sections.push(section);
            }
        }
        Ok(())
    }

    fn section(&self, header: &SectionHeader32<LE>) -> Result<Section, ObjectError> {
        let name = text(self.sections.section_name(LE, header)?);
        let flags = header.sh_flags(LE);
        let kind = match header.sh_type(LE) {
            elf::SHT_NOBITS => SectionKind::Zero,
            _ if flags & elf::SHF_EXECINSTR != 0 => SectionKind::Code,
            _ if flags & elf::SHF_WRITE != 0 => SectionKind::Data,
            _ => SectionKind::ReadOnly,
        };
        let alignment = header.sh_addralign(LE).max(1);
        if !alignment.is_power_of_two() {
            return Err(ObjectError::BadAlignment {
                section: name,
                alignment,
            });
        }
        Ok(Section {
            name,
            kind,
            alignment,
            bytes: header.data(LE, self.bytes)?.to_vec(),
            size: header.sh_size(LE),
            relocations: Vec::new(),
            lines: Vec::new(),
        })
    }

    fn mapped(&self, section: usize) -> Option<usize> {
        self.section_map.get(section).copied().flatten()
    }

    fn read_symbols(&mut self) -> Result<(), ObjectError> {
        let table = self.sections.symbols(LE, self.bytes, elf::SHT_SYMTAB)?;
        for (index, symbol) in table.iter().enumerate() {
            let name = text(table.symbol_name(LE, symbol)?);
            let target = match symbol.st_type() {
                _ if index == 0 => None,
                elf::STT_FILE => {
                    self.object.name = name;
                    None
                }
                elf::STT_SECTION => self.mapped(symbol.st_shndx(LE).into()).map(Target::Section),
                _ => self.symbol(name, symbol).map(|symbol| {
                    self.object.symbols.push(symbol);
                    Target::Symbol(self.object.symbols.len() - 1)
                }),
            };
            self.targets.push(target);
        }
        Ok(())
    }

    /// A symbol, unless it lies in a section that is no part of the program.
    fn symbol(&self, name: String, symbol: &Sym32<LE>) -> Option<Symbol> {
        let value = symbol.st_value(LE);
        let place = match symbol.st_shndx(LE) {
            elf::SHN_UNDEF => SymbolPlace::Undefined,
            elf::SHN_ABS => SymbolPlace::Absolute(value),
            section => SymbolPlace::Section {
                section: self.mapped(section.into())?,
                offset: value,
            },
        };
        let binding = match symbol.st_bind() {
            elf::STB_LOCAL => Binding::Local,
            elf::STB_WEAK => Binding::Weak,
            _ => Binding::Global,
        };
        let kind = match symbol.st_type() {
            elf::STT_FUNC => SymbolKind::Function,
            elf::STT_OBJECT => SymbolKind::Object,
            _ => SymbolKind::None,
        };
        Some(Symbol {
            name,
            place,
            size: symbol.st_size(LE),
            kind,
            binding,
        })
    }

    fn read_relocations(&mut self) -> Result<(), ObjectError> {
        for header in self.sections.iter() {
            let patched = SectionIndex(header.sh_info(LE) as usize);
            let Some(index) = self.mapped(patched.0) else {
                continue;
            };
            let name = || self.object.sections[index].name.clone();
            match header.sh_type(LE) {
                elf::SHT_REL => return Err(ObjectError::NoAddends(name())),
                elf::SHT_RELA => {}
                _ => continue,
            }
            let entries: &[Rela32<LE>] = header.data_as_array(LE, self.bytes)?;
            let mut relocations = Vec::with_capacity(entries.len());
            for entry in entries {
                let number = entry.r_type(LE);
                let kind = RelocationKind::from_number(number).ok_or_else(|| {
                    ObjectError::RelocationKind {
                        section: name(),
                        number,
                    }
                })?;
                let symbol = entry.r_sym(LE) as usize;
                let target = self.targets.get(symbol).copied().flatten();
                let target = target.ok_or_else(|| ObjectError::BadReference(name()))?;
                let (offset, addend) = (entry.r_offset.get(LE), entry.r_addend.get(LE));
                relocations.push(Relocation {
                    offset,
                    kind,
                    target,
                    addend,
                });
            }
            self.object.sections[index]
                .relocations
                .append(&mut relocations);
        }
        Ok(())
    }

    /// The source lines; objects of other tools have none.
    fn read_lines(&mut self) -> Result<(), ObjectError> {
        let Some((_, header)) = self.sections.section_by_name(LE, LINES.as_bytes()) else {
            return Ok(());
        };
        let mut words = Words(header.data(LE, self.bytes)?);
        let parsed = words.files().and_then(|files| {
            let sections = self.object.sections.iter();
            let marks = sections.map(|section| words.marks(section.size, files.len()));
            let marks = marks.collect::<Option<Vec<_>>>()?;
            Some((files, marks))
        });
        let Some((files, marks)) = parsed else {
            return Err(ObjectError::Elf(format!("{LINES} is damaged")));
        };
        self.object.files = files;
        for (section, lines) in self.object.sections.iter_mut().zip(marks) {
            section.lines = lines;
        }
        Ok(())
    }
}

/// A reader of little-endian words.
struct Words<'a>(&'a [u8]);

impl<'a> Words<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn word(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    fn files(&mut self) -> Option<Vec<String>> {
        let count = self.word()?;
        let mut files = Vec::new();
        for _ in 0..count {
            let length = self.word()?;
            files.push(text(self.take(length as usize)?));
        }
        Some(files)
    }

    /// The marks of a section of `size` bytes: in order, inside it, of one of `files` files.
    fn marks(&mut self, size: u32, files: usize) -> Option<Vec<LineMark>> {
        let count = self.word()?;
        let (mut marks, mut least) = (Vec::new(), 0);
        for _ in 0..count {
            let (offset, file, line) = (self.word()?, self.word()?, self.word()?);
            if offset < least || offset > size || file as usize >= files {
                return None;
            }
            least = offset;
            marks.push(LineMark { offset, file, line });
        }
        Some(marks)
    }
}
