//! The kinds of relocation: what value goes into which bits. [isa-encoding §10]

/// What a relocation puts where.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum RelocationKind {
    /// Nothing.
    None,
    /// 8 bits.
    Bits8,
    /// 16 bits.
    Bits16,
    /// Bits 19:0 of a word.
    Bits20,
    /// A word.
    Bits32,
    /// Two words.
    Bits64,
    /// Words from the base of tile memory, in 16 bits.
    Relative16S2,
    /// A word address in bits 17:0.
    Word18,
    /// A word address in bits 18:0.
    Word19,
    /// Words from the base of tile memory, in the split field of `run`.
    Run,
    /// An address in units of 8 bytes, in 16 bits.
    Bits16S3,
    /// An address in units of 16 bytes, in 16 bits.
    Bits16S4,
    /// An address in units of 32 bytes, in 16 bits.
    Bits16S5,
    /// Bits 20:0 of a word.
    Bits21,
}

/// One line of the table of kinds.
struct Row {
    kind: RelocationKind,
    number: u32,
    name: &'static str,
    bytes: u8,
    shift: u8,
    based: bool,
    width: u8,
}

const fn row(
    kind: RelocationKind,
    number: u32,
    name: &'static str,
    bytes: u8,
    shift: u8,
    based: bool,
    width: u8,
) -> Row {
    Row {
        kind,
        number,
        name,
        bytes,
        shift,
        based,
        width,
    }
}

use RelocationKind as K;

#[rustfmt::skip] // One kind a line: the columns are the point.
const ROWS: [Row; 14] = [
    //  kind            nr  name                         patched bytes, shift, counts from base, bits
    row(K::None,         0, "R_COLOSSUS_NONE",             0, 0, false,  0),
    row(K::Bits8,        1, "R_COLOSSUS_8",                1, 0, false,  8),
    row(K::Bits16,       2, "R_COLOSSUS_16",               2, 0, false, 16),
    row(K::Bits20,       3, "R_COLOSSUS_20",               4, 0, false, 20),
    row(K::Bits32,       4, "R_COLOSSUS_32",               4, 0, false, 32),
    row(K::Bits64,       5, "R_COLOSSUS_64",               8, 0, false, 64),
    row(K::Relative16S2, 6, "R_COLOSSUS_RELATIVE_16_S2",   2, 2, true,  16),
    row(K::Word18,       7, "R_COLOSSUS_18_S2",            4, 2, false, 18),
    row(K::Word19,       8, "R_COLOSSUS_19_S2",            4, 2, false, 19),
    row(K::Run,          9, "R_COLOSSUS_RUN",              4, 2, true,  16),
    row(K::Bits16S3,    14, "R_COLOSSUS_16_S3",            2, 3, false, 16),
    row(K::Bits16S4,    15, "R_COLOSSUS_16_S4",            2, 4, false, 16),
    row(K::Bits16S5,    16, "R_COLOSSUS_16_S5",            2, 5, false, 16),
    row(K::Bits21,      17, "R_COLOSSUS_21",               4, 0, false, 21),
];

/// Why a value cannot be put in its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RelocationError {
    /// The value is negative or too large for the field.
    #[error("the value {value} does not fit; {name} takes {low:#x} to {high:#x}", value = hex(*.value))]
    Range {
        /// The kind.
        name: &'static str,
        /// The value before scaling.
        value: i64,
        /// The least value.
        low: i64,
        /// The largest value.
        high: i64,
    },
    /// The value is not a multiple of the field's unit.
    #[error("the value {value} is not a multiple of {unit}, which {name} counts in", value = hex(*.value))]
    Alignment {
        /// The kind.
        name: &'static str,
        /// The value before scaling.
        value: i64,
        /// The unit in bytes.
        unit: i64,
    },
    /// The place to patch is not inside the section.
    #[error("{name} patches {bytes} bytes at {offset:#x}; the section has {size}")]
    Outside {
        /// The kind.
        name: &'static str,
        /// Bytes it patches.
        bytes: u32,
        /// Where.
        offset: u32,
        /// Bytes of the section.
        size: u32,
    },
}

/// A number of either sign in hex.
fn hex(value: i64) -> String {
    let sign = if value < 0 { "-" } else { "" };
    format!("{sign}{:#x}", value.unsigned_abs())
}

impl RelocationKind {
    fn row(self) -> &'static Row {
        ROWS.iter().find(|row| row.kind == self).unwrap_or(&ROWS[0])
    }

    /// The kind with that number; the specification leaves 10 to 13 undefined.
    pub fn from_number(number: u32) -> Option<Self> {
        ROWS.iter()
            .find(|row| row.number == number)
            .map(|row| row.kind)
    }

    /// Its number in ELF.
    pub fn number(self) -> u32 {
        self.row().number
    }

    /// Its name in ELF.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Bytes that a patch reads and writes.
    pub fn bytes(self) -> u32 {
        u32::from(self.row().bytes)
    }

    /// Puts `value`, a byte address, into `section` at `offset`, and keeps the bits beside the
    /// field.
    ///
    /// # Errors
    ///
    /// [`RelocationError`] when the value does not fit or the place lies outside the section.
    pub fn patch(self, section: &mut [u8], offset: u32, value: i64) -> Result<(), RelocationError> {
        let row = self.row();
        let field = self.field(value)?;
        let size = u32::try_from(section.len()).unwrap_or(u32::MAX);
        let outside = RelocationError::Outside {
            name: row.name,
            bytes: self.bytes(),
            offset,
            size,
        };
        let end = offset.checked_add(self.bytes()).ok_or(outside)?;
        let place = section
            .get_mut(offset as usize..end as usize)
            .ok_or(outside)?;
        let old = place
            .iter()
            .rev()
            .fold(0u64, |word, byte| word << 8 | u64::from(*byte));
        let (mask, bits) = match self {
            K::Run => (0x000f_0fff, (field & 0xf000) << 4 | (field & 0xfff)),
            _ => (width_mask(row.width), field),
        };
        let new = (old & !mask) | bits;
        let length = place.len();
        place.copy_from_slice(&new.to_le_bytes()[..length]);
        Ok(())
    }

    /// The field's value: unsigned, after scaling, in range.
    fn field(self, value: i64) -> Result<u64, RelocationError> {
        let row = self.row();
        let low = if row.based {
            i64::from(tilekiln_chip::memory::BASE.0)
        } else {
            0
        };
        let name = row.name;
        let unit = 1i64 << row.shift;
        let limit = width_mask(row.width) << row.shift;
        let high = low.saturating_add(i64::try_from(limit).unwrap_or(i64::MAX));
        let range = RelocationError::Range {
            name,
            value,
            low,
            high,
        };
        if row.kind == K::None {
            return Ok(0);
        }
        let distance = value.checked_sub(low).ok_or(range)?;
        if distance % unit != 0 {
            return Err(RelocationError::Alignment { name, value, unit });
        }
        u64::try_from(distance >> row.shift)
            .ok()
            .filter(|field| *field <= width_mask(row.width))
            .ok_or(range)
    }
}

/// The low `width` bits.
fn width_mask(width: u8) -> u64 {
    match width {
        0 => 0,
        64.. => u64::MAX,
        _ => (1 << width) - 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Patches a word of ones and shows it, or the reason why not.
    fn patched(kind: RelocationKind, value: i64) -> String {
        let mut bytes = [0xff; 8];
        match kind.patch(&mut bytes, 0, value) {
            Ok(()) => format!("{:016x}", u64::from_le_bytes(bytes)),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn each_kind_replaces_its_field_and_nothing_else() {
        let cases = [
            (K::None, 5, "ffffffffffffffff"),
            (K::Bits8, 0x12, "ffffffffffffff12"),
            (K::Bits16, 0x1234, "ffffffffffff1234"),
            (K::Bits20, 0x4_c0c4, "fffffffffff4c0c4"),
            (K::Bits32, 0x1234_5678, "ffffffff12345678"),
            (K::Bits64, 0x1234, "0000000000001234"),
            (K::Relative16S2, 0x4_c000 + 0x48d0, "ffffffffffff1234"),
            (K::Word18, 0x4_c010, "fffffffffffd3004"),
            (K::Word19, 0x4_c010, "fffffffffff93004"),
            (K::Run, 0x4_c000 + 4 * 0x1234, "fffffffffff1f234"),
            (K::Bits16S3, 0x4_c010, "ffffffffffff9802"),
            (K::Bits16S4, 0x4_c010, "ffffffffffff4c01"),
            (K::Bits16S5, 0x4_c020, "ffffffffffff2601"),
            (K::Bits21, 0xe_8000, "ffffffffffee8000"),
        ];
        for (kind, value, want) in cases {
            assert_eq!(patched(kind, value), want, "{}", kind.name());
        }
    }

    #[test]
    fn the_largest_value_of_each_kind_fits_and_the_next_does_not() {
        for row in &ROWS {
            let base = if row.based { 0x4_c000 } else { 0 };
            let Ok(limit) = i64::try_from(width_mask(row.width) << row.shift) else {
                continue;
            };
            if row.kind == K::None {
                continue;
            }
            assert!(row.kind.field(base + limit).is_ok(), "{}", row.name);
            assert!(
                row.kind.field(base + limit + (1 << row.shift)).is_err(),
                "{}",
                row.name
            );
            assert!(
                row.kind.field(base - (1 << row.shift)).is_err(),
                "{}",
                row.name
            );
        }
    }

    #[test]
    fn a_value_off_the_unit_is_refused_with_both_numbers() {
        assert_eq!(
            patched(K::Word19, 0x4_c012),
            "the value 0x4c012 is not a multiple of 4, which R_COLOSSUS_19_S2 counts in"
        );
        assert_eq!(
            patched(K::Run, 0x4_bffc),
            "the value 0x4bffc does not fit; R_COLOSSUS_RUN takes 0x4c000 to 0x8bffc"
        );
    }

    #[test]
    fn numbers_the_specification_leaves_open_are_no_kinds() {
        for row in &ROWS {
            assert_eq!(RelocationKind::from_number(row.number), Some(row.kind));
        }
        for number in [10, 11, 12, 13, 18, 255] {
            assert_eq!(RelocationKind::from_number(number), None);
        }
    }

    #[test]
    fn a_patch_outside_its_section_is_refused() {
        assert_eq!(
            K::Bits20
                .patch(&mut [0; 6], 4, 0)
                .map_err(|error| error.to_string()),
            Err("R_COLOSSUS_20 patches 4 bytes at 0x4; the section has 6".to_owned())
        );
    }
}
