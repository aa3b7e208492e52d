//! The end of assembly: every label is known, so every word can be written.

use tilekiln_isa::form::{CONTROL, INLINE, SYSTEM};
use tilekiln_isa::parse::{ParseError, Relocation as Fixup, Selected, pair};
use tilekiln_isa::{encode, encode_bundle};

use super::driver::Assembler;
use super::error::{Fault, Kind};
use super::expr::{Base, Value, settle};
use super::section::{Datum, Item, What};
use super::statement::{OperandKind, Statement};
use super::symbols::{Meaning, SymbolId};
use crate::object::{Relocation, RelocationKind, Target};

/// The coissue flag. [isa-encoding §2]
const COISSUE: u32 = 1 << 31;

/// Relocations while symbols still have their numbers from the source.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    pub(super) offset: u32,
    pub(super) kind: RelocationKind,
    pub(super) base: Base,
    pub(super) addend: i64,
    /// The section the patch is in.
    pub(super) section: usize,
}

/// What an item has become.
enum Ready {
    /// Instructions in order of address.
    Solo(Selected),
    /// Both halves.
    Bundle([Selected; 2]),
    /// Something else, or nothing because it was refused.
    Other,
}

impl Assembler {
    /// Writes every item into its section, and returns what the linker has to add.
    pub(super) fn write_items(&mut self) -> Vec<Pending> {
        let mut pending = Vec::new();
        for section in 0..self.sections.all.len() {
            let items = std::mem::take(&mut self.sections.all[section].items);
            let mut ready = Vec::with_capacity(items.len());
            for item in &items {
                let from = pending.len();
                match self.write_item(section, item, &mut pending) {
                    Ok(done) => ready.push(done),
                    Err(faults) => {
                        pending.truncate(from);
                        ready.push(Ready::Other);
                        for (statement, fault) in faults {
                            self.complain_about(statement, fault);
                        }
                    }
                }
            }
            self.check_items(section, &items, &ready);
        }
        pending
    }

    fn write_item<'i>(
        &mut self,
        section: usize,
        item: &'i Item,
        pending: &mut Vec<Pending>,
    ) -> Result<Ready, Vec<(&'i Statement, Fault)>> {
        match &item.what {
            What::Datum(datum) => {
                let bytes = self.datum(section, item.offset, datum, pending);
                let bytes = bytes.map_err(|fault| vec![(&datum.statement, fault)])?;
                self.put(section, item.offset, &bytes[..datum.bytes as usize]);
                Ok(Ready::Other)
            }
            What::Solo(statement) => {
                let blame = |fault| vec![(statement, fault)];
                let selected = statement.select(&self.symbols).map_err(blame)?;
                let at = (section, item.offset);
                self.refer(at, statement, &selected, pending)
                    .map_err(blame)?;
                let words = [Some(selected.instruction), selected.second];
                let words = words
                    .into_iter()
                    .flatten()
                    .flat_map(|i| encode(&i).to_le_bytes());
                self.put(section, item.offset, &words.collect::<Vec<_>>());
                Ok(Ready::Solo(selected))
            }
            What::Bundle(members) => self.bundle_item(section, item.offset, members, pending),
        }
    }

    fn bundle_item<'i>(
        &mut self,
        section: usize,
        offset: u32,
        members: &'i [Statement; 2],
        pending: &mut Vec<Pending>,
    ) -> Result<Ready, Vec<(&'i Statement, Fault)>> {
        let mut selected = Vec::new();
        let mut faults = Vec::new();
        for member in members {
            match member.select(&self.symbols) {
                Ok(found) => selected.push(found),
                Err(fault) => faults.push((member, fault)),
            }
        }
        let (Some(&first), Some(&second)) = (selected.first(), selected.get(1)) else {
            return Err(faults);
        };
        let [one, two] = members;
        let (order, words) = match pair(&[first, second], one.options.optimise) {
            Ok(paired) if paired.swapped => {
                ([(two, second), (one, first)], encode_bundle(&paired.bundle))
            }
            Ok(paired) => ([(one, first), (two, second)], encode_bundle(&paired.bundle)),
            Err(error) => {
                let words = self.tolerate(one, &error, [&first, &second]);
                let words = words.map_err(|kind| {
                    let wrong = usize::from(match error {
                        ParseError::WritesTwice { .. } => true,
                        ParseError::WrongLane { mnemonic, .. }
                        | ParseError::NotInBundle { mnemonic } => {
                            first.instruction.form.mnemonic != mnemonic
                        }
                        _ => false,
                    });
                    let at = &members[wrong];
                    vec![(at, Fault::at(at.start, kind))]
                })?;
                ([(one, first), (two, second)], words)
            }
        };
        for ((statement, half), at) in order.iter().zip([offset, offset + 4]) {
            let referred = self.refer((section, at), statement, half, pending);
            referred.map_err(|fault| vec![(*statement, fault)])?;
        }
        self.put(section, offset, &words.map(u32::to_le_bytes).concat());
        Ok(Ready::Bundle(order.map(|(_, half)| half)))
    }

    /// The words of an execution bundle that breaks the rules, where only a warning is wanted.
    fn tolerate(
        &mut self,
        statement: &Statement,
        error: &ParseError,
        halves: [&Selected; 2],
    ) -> Result<[u32; 2], Kind> {
        let kind = Kind::Instruction(error.to_string());
        let can = halves
            .iter()
            .all(|half| half.instruction.form.can_coissue());
        if !statement.options.warn_bundles || !can {
            return Err(kind);
        }
        let place = statement.piece.place_of(statement.start);
        let warning = self.error(place, kind, statement.trace.clone());
        self.warnings.push((statement.number, warning));
        Ok(halves.map(|half| encode(&half.instruction) | COISSUE))
    }

    /// Notes the symbol an instruction refers to.
    fn refer(
        &self,
        (section, offset): (usize, u32),
        statement: &Statement,
        selected: &Selected,
        pending: &mut Vec<Pending>,
    ) -> Result<(), Fault> {
        let Some(reference) = &selected.reference else {
            return Ok(());
        };
        let Some(operand) = statement.operands.get(reference.arg) else {
            return Ok(());
        };
        let OperandKind::Value(value) = &operand.what else {
            return Ok(());
        };
        let fault = |kind| Fault::at(operand.at, kind);
        if statement.mnemonic == "rpt" && !statement.options.any_repeat {
            let unknown = value.constant(&self.symbols).err();
            return unknown.map_or(Ok(()), |kind| Err(fault(kind)));
        }
        let Value::Address(base, addend) = value.value(&self.symbols).map_err(fault)? else {
            return Ok(());
        };
        let base = self.known(base).map_err(fault)?;
        let kind = match reference.relocation {
            Fixup::Bits8 => RelocationKind::Bits8,
            Fixup::Bits16 => RelocationKind::Bits16,
            Fixup::Bits20 => RelocationKind::Bits20,
            Fixup::Code19 => RelocationKind::Word19,
            Fixup::Run => RelocationKind::Run,
        };
        pending.push(Pending {
            offset,
            kind,
            base,
            addend,
            section,
        });
        Ok(())
    }

    /// Checks that a private label exists.
    pub(super) fn known(&self, base: Base) -> Result<Base, Kind> {
        if let Base::Symbol(id) = base {
            self.exists(id)?;
        }
        Ok(base)
    }

    /// Checks that a private label exists; other names may be another object's.
    fn exists(&self, id: SymbolId) -> Result<(), Kind> {
        let entry = self.symbols.get(id);
        match (&entry.meaning, entry.local) {
            (Meaning::Unknown, Some(number)) => Err(Kind::NoLocalLabel {
                number,
                direction: "behind",
            }),
            (Meaning::Unknown, None) if entry.is_private() => {
                Err(Kind::NoLabel(entry.name.clone()))
            }
            _ => Ok(()),
        }
    }

    fn datum(
        &self,
        section: usize,
        offset: u32,
        datum: &Datum,
        pending: &mut Vec<Pending>,
    ) -> Result<[u8; 8], Fault> {
        let fault = |kind| Fault::at(datum.at, kind);
        let value = datum.value.value(&self.symbols);
        // A difference with a name that is never defined is that name's fault.
        match value.map_err(fault)? {
            Value::Constant(value) if datum.modifier.is_none() => {
                self.fits(datum, value).map_err(fault)?;
                Ok(value.to_le_bytes())
            }
            Value::Constant(_) => Err(fault(Kind::Expected {
                expected: "a symbol",
                found: "a number".to_owned(),
            })),
            Value::Address(base, addend) => {
                let base = self.known(base).map_err(fault)?;
                let natural = match datum.bytes {
                    1 => RelocationKind::Bits8,
                    2 => RelocationKind::Bits16,
                    4 => RelocationKind::Bits32,
                    _ => RelocationKind::Bits64,
                };
                let kind = datum.modifier.unwrap_or(natural);
                if kind.bytes() > datum.bytes {
                    return Err(fault(Kind::NoRelocation(datum.statement.mnemonic.clone())));
                }
                pending.push(Pending {
                    offset,
                    kind,
                    base,
                    addend,
                    section,
                });
                Ok([0; 8])
            }
        }
    }

    /// Checks that a number fits a datum, read with or without sign.
    fn fits(&self, datum: &Datum, value: i64) -> Result<(), Kind> {
        let bits = datum.bytes * 8;
        if bits >= 64 || datum.statement.options.any_operands {
            return Ok(());
        }
        let (low, high) = (-(1i64 << (bits - 1)), (1i64 << bits) - 1);
        if (low..=high).contains(&value) {
            return Ok(());
        }
        Err(Kind::OutOfRange {
            name: datum.statement.mnemonic.clone(),
            value,
            low,
            high,
        })
    }

    fn put(&mut self, section: usize, offset: u32, bytes: &[u8]) {
        let start = offset as usize;
        let place = self.sections.all[section]
            .bytes
            .get_mut(start..start + bytes.len());
        // Room was made when the statement was read.
        if let Some(place) = place {
            place.copy_from_slice(bytes);
        }
    }

    /// Checks what depends on neighbours: repeat bodies, and the second word of `sendpicp`.
    fn check_items(&mut self, section: usize, items: &[Item], ready: &[Ready]) {
        for (index, (item, done)) in items.iter().zip(ready).enumerate() {
            let (statement, selected, bytes) = match (&item.what, done) {
                (What::Solo(statement), Ready::Solo(selected)) => (statement, selected, 4),
                (What::Bundle(members), Ready::Bundle(halves)) => {
                    let first = usize::from(members[0].mnemonic != "rpt");
                    (&members[first], &halves[0], 8)
                }
                _ => continue,
            };
            let start = item.offset + bytes;
            let form = selected.instruction.form;
            let checked = if form.mnemonic == "rpt" && !statement.options.any_repeat {
                self.check_repeat(
                    section,
                    start,
                    selected,
                    &items[index + 1..],
                    &ready[index + 1..],
                )
            } else if form.traits.has(INLINE) {
                check_inline(statement, start, items.get(index + 1))
            } else {
                Ok(())
            };
            if let Err(kind) = checked {
                self.complain_about(statement, Fault::at(statement.start, kind));
            }
        }
    }

    /// Checks the body of a `rpt` that starts at `start`. [isa-encoding §6]
    fn check_repeat(
        &self,
        section: usize,
        start: u32,
        rpt: &Selected,
        items: &[Item],
        ready: &[Ready],
    ) -> Result<(), Kind> {
        if !start.is_multiple_of(8) {
            return Err(Kind::RepeatAlignment(start));
        }
        // The size is the second of two operands.
        let wanted = (rpt.instruction.values[1] + 1) * 8;
        let found = self.sections.all[section].size - start;
        if wanted > found {
            return Err(Kind::RepeatBeyond { wanted, found });
        }
        let mut next = start;
        for (item, done) in items.iter().zip(ready) {
            if next >= start + wanted {
                break;
            }
            if item.offset != next {
                return Err(Kind::RepeatSolo("fill".to_owned()));
            }
            match (&item.what, done) {
                (_, Ready::Bundle(halves)) => {
                    for half in halves {
                        let form = half.instruction.form;
                        if form.traits.has(CONTROL) || form.traits.has(SYSTEM) {
                            return Err(Kind::RepeatForbidden(form.mnemonic.to_owned()));
                        }
                    }
                }
                // It was refused and complained about already.
                (What::Bundle(_), _) => {}
                (What::Solo(statement), _) => {
                    return Err(Kind::RepeatSolo(statement.mnemonic.clone()));
                }
                (What::Datum(datum), _) => {
                    return Err(Kind::RepeatSolo(datum.statement.mnemonic.clone()));
                }
            }
            next = item.offset + 8;
        }
        if next < start + wanted {
            return Err(Kind::RepeatSolo("fill".to_owned()));
        }
        Ok(())
    }
}

/// Checks that one word of data follows. [isa-encoding §13]
fn check_inline(statement: &Statement, start: u32, next: Option<&Item>) -> Result<(), Kind> {
    match next {
        Some(Item {
            offset,
            what: What::Datum(datum),
        }) if *offset == start && datum.bytes == 4 => Ok(()),
        _ => Err(Kind::InlineWord(statement.mnemonic.clone())),
    }
}

/// A label as section and offset, whatever it is called.
pub(super) fn section_of(base: Base, assembler: &Assembler) -> Option<(usize, u32)> {
    match settle(base, &assembler.symbols) {
        (Base::Section(section), offset) => Some((section, offset)),
        (Base::Symbol(_), _) => None,
    }
}

impl Pending {
    /// The relocation, with the numbers that sections and symbols have in the object.
    pub(super) fn resolve(
        &self,
        assembler: &Assembler,
        sections: &[Option<usize>],
        symbols: &[Option<usize>],
    ) -> Option<Relocation> {
        let kept = |section: usize| sections.get(section).copied().flatten();
        let symbol = |id: SymbolId| symbols.get(id.index()).copied().flatten();
        let (target, addend) = match self.base {
            Base::Section(section) => (Target::Section(kept(section)?), self.addend),
            Base::Symbol(id) => {
                let visible = assembler.symbols.get(id).binding.is_some();
                match section_of(self.base, assembler) {
                    // Only what other objects may see, and perhaps replace, stays a symbol.
                    Some((section, offset)) if !visible => (
                        Target::Section(kept(section)?),
                        self.addend + i64::from(offset),
                    ),
                    _ => (Target::Symbol(symbol(id)?), self.addend),
                }
            }
        };
        let addend = i32::try_from(addend).ok()?;
        Some(Relocation {
            offset: self.offset,
            kind: self.kind,
            target,
            addend,
        })
    }
}
