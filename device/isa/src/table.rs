//! All lines, in order.

pub mod aliases;
mod control;
mod exchange;
mod float;
mod half;
mod integer;
mod matrix;
mod memory;
mod random;
mod system;
mod vector;

use crate::form::Form;
use crate::op::Op;

/// The table's files, in order.
const GROUPS: [&[Form]; 10] = [
    integer::FORMS,
    memory::FORMS,
    control::FORMS,
    system::FORMS,
    exchange::FORMS,
    float::FORMS,
    half::FORMS,
    vector::FORMS,
    matrix::FORMS,
    random::FORMS,
];

/// How many forms there are. [isa-encoding §1]
pub const COUNT: usize = 368;

/// Every form of the instruction set, in table order, which is also the order of [`Op`].
pub static FORMS: [&Form; COUNT] = {
    let mut all = [&GROUPS[0][0]; COUNT];
    let (mut group, mut filled) = (0, 0);
    while group < GROUPS.len() {
        let mut line = 0;
        while line < GROUPS[group].len() {
            assert!(
                GROUPS[group][line].op as usize == filled,
                "table and Op differ in order"
            );
            all[filled] = &GROUPS[group][line];
            filled += 1;
            line += 1;
        }
        group += 1;
    }
    assert!(filled == COUNT, "the table has a different number of forms");
    all
};

/// Every form of the instruction set, in table order.
pub fn forms() -> impl Iterator<Item = &'static Form> {
    FORMS.iter().copied()
}

/// The forms called `mnemonic`, in table order.
pub fn named(mnemonic: &str) -> impl Iterator<Item = &'static Form> {
    let mut next = NAMES.heads[name_key(mnemonic.as_bytes())];
    core::iter::from_fn(move || {
        let form = FORMS[next.checked_sub(1)? as usize];
        next = NAMES.next[next as usize - 1];
        Some(form)
    })
    .filter(move |form| form.mnemonic == mnemonic)
}

/// How many chains the mnemonics are spread over.
const CHAINS: usize = 512;

/// The forms chained by the hash of their mnemonic. Entries are a form's index plus one, 0 ends.
struct Names {
    heads: [u16; CHAINS],
    next: [u16; COUNT],
}

static NAMES: Names = {
    let mut names = Names {
        heads: [0; CHAINS],
        next: [0; COUNT],
    };
    // From the last to the first, so that each chain ends up in table order.
    let mut form = COUNT;
    while form > 0 {
        let key = name_key(FORMS[form - 1].mnemonic.as_bytes());
        names.next[form - 1] = names.heads[key];
        names.heads[key] = form as u16;
        form -= 1;
    }
    names
};

/// The chain of a name: 32-bit FNV-1a, folded.
const fn name_key(name: &[u8]) -> usize {
    let mut hash = 0x811c_9dc5u32;
    let mut at = 0;
    while at < name.len() {
        hash = (hash ^ name[at] as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    (hash ^ hash >> 16) as usize % CHAINS
}

impl Op {
    /// The line of the table that describes this form.
    pub fn form(self) -> &'static Form {
        FORMS[self as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::{forms, named};
    use crate::form::{COISSUE, Context, Lane};

    #[test]
    fn every_bit_of_every_form_is_accounted_for_once() {
        for form in forms() {
            let mut seen = form.mask | COISSUE;
            for operand in form.operands {
                assert_eq!(
                    seen & operand.mask(),
                    0,
                    "{}: {} overlaps",
                    form.mnemonic,
                    operand.name
                );
                seen |= operand.mask();
            }
            assert_eq!(seen, u32::MAX, "{}: bits left over", form.mnemonic);
            assert_eq!(
                form.can_coissue(),
                form.mask & COISSUE == 0,
                "{}",
                form.mnemonic
            );
        }
    }

    #[test]
    fn every_bit_of_every_value_is_stored_once() {
        for operand in forms().flat_map(|form| form.operands) {
            let mut seen = 0u32;
            for field in operand.fields.as_slice() {
                let bits = ((1u32 << field.bits) - 1) << field.value_low;
                assert_eq!(seen & bits, 0, "{}", operand.name);
                seen |= bits;
            }
            let all = (1u32 << operand.width) - 1;
            // The three-bit quad leaves out bit 0, which every quad's number has clear.
            assert!(
                seen == all || seen == all & !1,
                "{}: {seen:#x}",
                operand.name
            );
        }
    }

    #[test]
    fn no_word_is_two_forms() {
        for (index, one) in forms().enumerate() {
            for other in forms().skip(index + 1) {
                let both = one.mask & other.mask;
                assert_ne!(
                    one.bits & both,
                    other.bits & both,
                    "{} {}",
                    one.mnemonic,
                    other.mnemonic
                );
            }
        }
    }

    #[test]
    fn every_form_is_found_by_its_name() {
        for form in forms() {
            assert!(
                named(form.mnemonic).any(|found| found.op == form.op),
                "{}",
                form.mnemonic
            );
        }
        assert_eq!(named("add").count(), 3);
        assert_eq!(named("nothing").count(), 0);
    }

    #[test]
    fn every_aux_form_is_for_workers_only() {
        for form in forms().filter(|form| form.lane == Lane::Aux) {
            assert_eq!(form.context, Context::Worker, "{}", form.mnemonic);
        }
    }
}
