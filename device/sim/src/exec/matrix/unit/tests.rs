//! Routing: every form, driven by the schedule its section gives, on data so small that no model
//! of the inner rounding could change a bit. [isa-float §4.3, §4.4, §8.1]

use tilekiln_isa::op::Op;

use super::lookup;
use crate::exec::{AuxFault, AuxState};
use crate::float::f8::Format;
use crate::float::random::Prng;
use crate::float::round::{nearest16, wide16};
use crate::float::{FpState, Weights, issue};
use crate::settings::Settings;

/// One worker with its tile's weights.
struct Unit {
    fp: FpState,
    weights: Weights,
    settings: Settings,
}

impl Unit {
    fn new() -> Self {
        let mut fp = FpState::new(1);
        fp.set_csr(0x101, 8);
        Self {
            fp,
            weights: Weights::default(),
            settings: Settings::default(),
        }
    }

    /// Issues one form: x in the first registers, the partial sums in `a4` and up.
    fn step(&mut self, op: Op, x: &[u32], partials: &[u32], imm: u32) -> Vec<u32> {
        let mut a = [0; 16];
        a[..x.len()].copy_from_slice(x);
        a[4..4 + partials.len()].copy_from_slice(partials);
        let (weights, settings) = (&self.weights, &self.settings);
        let mut state = AuxState {
            a,
            fp: &mut self.fp,
            weights,
            settings,
        };
        let function = lookup(op).expect("the form is known");
        let result = issue(function, &[6, 0, 4, imm, 0], &mut state).expect("no fault");
        result.values[..usize::from(result.count)].to_vec()
    }
}

/// Small integers, reproducibly.
struct Integers(Prng);

impl Integers {
    fn next(&mut self) -> i32 {
        (self.0.step() >> 40) as i32 % 7 - 3
    }

    fn matrix(&mut self, rows: usize, columns: usize) -> Vec<Vec<i32>> {
        (0..rows)
            .map(|_| (0..columns).map(|_| self.next()).collect())
            .collect()
    }
}

/// Partials plus the product of `left` and the transposed `right`.
fn product(partials: &[Vec<i32>], left: &[Vec<i32>], right: &[Vec<i32>]) -> Vec<Vec<i32>> {
    let dot = |row: &[i32], column: &[i32]| row.iter().zip(column).map(|(a, b)| a * b).sum::<i32>();
    let row =
        |(c, a): (&Vec<i32>, &Vec<i32>)| c.iter().zip(right).map(|(c, b)| c + dot(a, b)).collect();
    partials.iter().zip(left).map(row).collect()
}

fn half(v: i32) -> u32 {
    u32::from(nearest16(f64::from(v)).expect("a small integer"))
}

fn single(v: i32) -> u32 {
    (v as f32).to_bits()
}

/// How numbers lie in registers.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Half,
    Single,
    Byte,
}

impl Kind {
    fn pack(self, numbers: &[i32]) -> Vec<u32> {
        match self {
            Self::Half => numbers
                .chunks(2)
                .map(|c| half(c[0]) | half(c[1]) << 16)
                .collect(),
            Self::Single => numbers.iter().map(|v| single(*v)).collect(),
            Self::Byte => numbers.chunks(4).map(bytes).collect(),
        }
    }

    fn unpack(self, registers: &[u32]) -> Vec<i32> {
        let halves = |r: &u32| [wide16(*r as u16) as i32, wide16((r >> 16) as u16) as i32];
        match self {
            Self::Half => registers.iter().flat_map(halves).collect(),
            _ => registers
                .iter()
                .map(|r| f32::from_bits(*r) as i32)
                .collect(),
        }
    }
}

/// The F143 codes of four small integers.
fn bytes(numbers: &[i32]) -> u32 {
    let code = |v: i32| {
        let found = (0..=u8::MAX).find(|c| Format::F143.decode(*c) == f64::from(v));
        found.expect("a small integer")
    };
    u32::from_le_bytes([0, 1, 2, 3].map(|i| code(numbers[i])))
}

/// A product form: how many channels, how many phases, and what its operands are.
#[derive(Clone, Copy)]
struct Form {
    op: Op,
    units: usize,
    phases: usize,
    x: Kind,
    from: Kind,
    to: Kind,
    /// Whether the ports of an 8-unit single form rest in odd phases.
    rests: bool,
}

impl Form {
    const fn halves(op: Op, units: usize, from: Kind, to: Kind) -> Self {
        Self {
            op,
            units,
            phases: 4,
            x: Kind::Half,
            from,
            to,
            rests: false,
        }
    }

    const fn singles(op: Op, units: usize, rests: bool) -> Self {
        let (x, from, to) = (Kind::Single, Kind::Single, Kind::Single);
        Self {
            op,
            units,
            phases: 8,
            x,
            from,
            to,
            rests,
        }
    }

    /// Elements of x in one issue.
    fn width(self) -> usize {
        match self.x {
            Kind::Half => 4,
            Kind::Single => 1,
            Kind::Byte => 8,
        }
    }

    fn inner(self) -> usize {
        self.width() * self.phases
    }

    /// Loads `right`, one row a channel, in the order of isa-float 4.2.
    fn load(self, unit: &mut Unit, right: &[Vec<i32>]) {
        for (channel, row) in right.iter().enumerate() {
            let (g, t) = (channel / 4, channel % 4);
            let place = if self.units == 8 {
                channel
            } else {
                2 * g + (t & 1) + 8 * (t >> 1)
            };
            let words = self.x.pack(row);
            for (slot, pair) in words.chunks(2).enumerate() {
                let word = u64::from(pair[0]) | u64::from(pair[1]) << 32;
                unit.weights.set(4 * place + slot, word);
            }
        }
    }

    /// The phases in which the ports work.
    fn ports(self) -> Vec<usize> {
        (0..self.phases)
            .filter(|p| !self.rests || p % 2 == 0)
            .collect()
    }

    /// Runs the whole schedule: warm-up, rows, drain. `warm` are the warm-up's phases.
    fn run(self, unit: &mut Unit, c: &[Vec<i32>], a: &[Vec<i32>], warm: &[usize]) -> Vec<Vec<i32>> {
        let ports = self.ports();
        let part = self.units / ports.len();
        let zeros = vec![0; self.units];
        let nothing = self.x.pack(&vec![0; self.width()]);
        let next = |r: usize| c.get(r).unwrap_or(&zeros);
        for (i, phase) in warm.iter().enumerate() {
            let q = self.from.pack(&next(0)[i * part..(i + 1) * part]);
            unit.step(self.op, &nothing, &q, *phase as u32);
        }
        let mut out = Vec::new();
        for r in 0..=a.len() {
            let mut row = Vec::new();
            for phase in 0..self.phases {
                let x = match a.get(r) {
                    Some(x) => self
                        .x
                        .pack(&x[phase * self.width()..(phase + 1) * self.width()]),
                    None => nothing.clone(),
                };
                let port = ports.iter().position(|p| *p == phase);
                let q = port.map_or(vec![0; 2], |i| {
                    self.from.pack(&next(r + 1)[i * part..(i + 1) * part])
                });
                let y = unit.step(self.op, &x, &q, phase as u32);
                if port.is_some() {
                    row.extend(self.to.unpack(&y));
                } else {
                    assert!(y.iter().all(|r| *r == 0), "a resting port gives zero");
                }
            }
            out.push(row);
        }
        out.remove(0);
        out
    }
}

#[track_caller]
fn check(form: Form, warm: &[usize]) {
    let mut integers = Integers(Prng::seed(form.units as u32 + form.phases as u32));
    let mut unit = Unit::new();
    unit.fp.set_csr(0x109, 3);
    for (rows, truncated_sums) in [(1, false), (2, true), (5, false)] {
        unit.settings.truncated_sums = truncated_sums;
        let a = integers.matrix(rows, form.inner());
        let b = integers.matrix(form.units, form.inner());
        let c = integers.matrix(rows, form.units);
        form.load(&mut unit, &b);
        assert_eq!(form.run(&mut unit, &c, &a, warm), product(&c, &a, &b));
    }
    assert_eq!(unit.fp.csr(0x100), 0, "no flag");
}

#[test]
fn the_sixteen_unit_product_of_halves_gives_whole_rows() {
    let form = Form::halves(Op::F16v4hihov4ampApApApZ6, 16, Kind::Half, Kind::Half);
    check(form, &[0, 1, 2, 3]);
    check(form, &[1, 1, 1, 1]);
}

#[test]
fn the_eight_unit_products_of_halves_give_whole_rows() {
    check(
        Form::halves(Op::F16v4hihoampAApAZ6, 8, Kind::Half, Kind::Half),
        &[0, 1, 2, 3],
    );
    check(
        Form::halves(Op::F16v4sihoampAApApZ6, 8, Kind::Single, Kind::Half),
        &[0, 1, 2, 3],
    );
    check(
        Form::halves(Op::F16v4sisoampApApApZ6, 8, Kind::Single, Kind::Single),
        &[1, 2, 3, 1],
    );
}

#[test]
fn the_product_of_bytes_gives_whole_rows() {
    let op = Op::F8v8hihov4ampApApApZ6;
    let form = Form {
        x: Kind::Byte,
        ..Form::halves(op, 16, Kind::Half, Kind::Half)
    };
    check(form, &[1, 1, 1, 1]);
}

#[test]
fn the_products_of_singles_give_whole_rows() {
    check(Form::singles(Op::F32sisoampApAApZ6, 8, true), &[0, 2, 4, 6]);
    check(
        Form::singles(Op::F32sisov2ampApAApZ6, 16, false),
        &[0, 1, 2, 3, 4, 5, 6, 7],
    );
}

#[test]
fn products_of_singles_leave_no_scratch_register_to_rely_on() {
    let mut unit = Unit::new();
    unit.fp.set_csr(0x108, 5);
    unit.step(Op::F32sisoampApAApZ6, &[0], &[0, 0], 1);
    assert!(matches!(unit.fp.tas(true), Err(AuxFault::Undefined(_))));
}

/// Four taps over positions; `channels` of them at once.
#[track_caller]
fn check_slic(op: Op, channels: usize, x_kind: Kind, from: Kind, to: Kind, slot: u32) {
    let depth = if x_kind == Kind::Byte { 8 } else { 4 };
    let mut integers = Integers(Prng::seed(slot + channels as u32));
    let mut unit = Unit::new();
    unit.fp.set_csr(0x109, 3);
    let taps: Vec<Vec<Vec<i32>>> = (0..channels).map(|_| integers.matrix(4, depth)).collect();
    for (channel, taps) in taps.iter().enumerate() {
        let (set, side) = (channel / 2, channel % 2);
        for (k, tap) in taps.iter().enumerate() {
            let words = x_kind.pack(tap);
            let place = 8 * set + 6 + side - 2 * k;
            let word = u64::from(words[0]) | u64::from(words[1]) << 32;
            unit.weights.set(4 * place + slot as usize, word);
        }
    }
    let (x, p) = (integers.matrix(9, depth), integers.matrix(9, channels));
    for t in 0..9 {
        let y = unit.step(op, &x_kind.pack(&x[t]), &from.pack(&p[t]), slot);
        let Some(start) = t.checked_sub(4) else {
            continue;
        };
        let want = |c: usize| {
            let tap = |k: usize| {
                let pairs = x[start + k].iter().zip(&taps[c][k]);
                pairs.map(|(a, b)| a * b).sum::<i32>()
            };
            p[start][c] + (0..4).map(tap).sum::<i32>()
        };
        assert_eq!(
            to.unpack(&y),
            (0..channels).map(want).collect::<Vec<_>>(),
            "issue {t}"
        );
    }
}

#[test]
fn a_four_tap_convolution_leaves_on_the_fifth_issue() {
    use Kind::{Byte, Half, Single};
    check_slic(Op::F16v4hihov4slicApApApZ6, 4, Half, Half, Half, 0);
    check_slic(Op::F16v4hihoslicAApAZ6, 2, Half, Half, Half, 1);
    check_slic(Op::F16v4sihoslicAApApZ6, 2, Half, Single, Half, 0);
    check_slic(Op::F16v4sisoslicApApApZ6, 2, Half, Single, Single, 1);
    check_slic(Op::F8v8hihov4slicApApApZ6, 4, Byte, Half, Half, 1);
}

#[test]
fn blocks_of_four_by_four_are_transposed_in_a_stream() {
    let mut unit = Unit::new();
    let row = |block: u32, r: u32| {
        let element = |c: u32| 0x100 * block + 0x10 * r + c;
        [element(0) | element(1) << 16, element(2) | element(3) << 16]
    };
    let mut columns = Vec::new();
    for block in 1..=4 {
        for phase in 0..2 {
            let (upper, lower) = (row(block, 2 * phase), row(block, 2 * phase + 1));
            columns.push(unit.step(Op::F16v4istaccApApApZ6, &upper, &lower, phase));
        }
        for phase in 0..2 {
            columns.push(stacc(&mut unit, phase));
        }
    }
    for (at, column) in columns.iter().enumerate().skip(2).take(12) {
        let (block, j) = ((at as u32 - 2) / 4 + 1, (at as u32 - 2) % 4);
        let element = |r: u32| 0x100 * block + 0x10 * r + j;
        assert_eq!(
            *column,
            [element(0) | element(1) << 16, element(2) | element(3) << 16]
        );
    }
}

fn stacc(unit: &mut Unit, phase: u32) -> Vec<u32> {
    let settings = Settings::default();
    let weights = &unit.weights;
    let mut state = AuxState {
        a: [0; 16],
        fp: &mut unit.fp,
        weights,
        settings: &settings,
    };
    let function = lookup(Op::F16v4staccApZ8).expect("the form is known");
    let result = function(&[0, phase, 0, 0, 0], &mut state).expect("no fault");
    result.values[..2].to_vec()
}

#[test]
fn codes_that_are_not_simulated_stop_the_context() {
    let settings = Settings::default();
    for (op, imm) in [
        (Op::F16v4hihov4ampApApApZ6, 4),
        (Op::F32sisoampApAApZ6, 8),
        (Op::F16v4hihoslicAApAZ6, 2),
        (Op::F32sisoslicApAApZ6, 0),
        (Op::F16v4istaccApApApZ6, 63),
    ] {
        let mut unit = Unit::new();
        let before = unit.fp.clone();
        let weights = &unit.weights;
        let mut state = AuxState {
            a: [0; 16],
            fp: &mut unit.fp,
            weights,
            settings: &settings,
        };
        let result = lookup(op).expect("the form is known")(&[0, 0, 2, imm, 0], &mut state);
        assert!(matches!(result, Err(AuxFault::Undefined(_))), "{op:?}");
        assert_eq!(unit.fp, before);
    }
}
