//! All lines, in order.

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

/// Every form of the instruction set, in table order.
pub fn forms() -> impl Iterator<Item = &'static Form> {
    GROUPS.into_iter().flatten()
}
