//! Forms as a whole: which exist, what they write, what they raise, and what a fault leaves alone.

use tilekiln_isa::form::Lane;
use tilekiln_isa::op::Op;
use tilekiln_isa::table::forms;

use super::*;

/// Issues `op` with `values` on registers `a0` and up; what it wrote.
fn run(fp: &mut FpState, op: Op, values: &[u32], registers: &[u32]) -> Result<Vec<u32>, AuxFault> {
    let mut all = [0; 5];
    all[..values.len()].copy_from_slice(values);
    let mut a = [0; 16];
    a[..registers.len()].copy_from_slice(registers);
    let (weights, settings) = (Weights::default(), Settings::default());
    let mut state = AuxState {
        a,
        fp,
        weights: &weights,
        settings: &settings,
    };
    let result = issue(lookup(op).expect("a float form"), &all, &mut state)?;
    Ok(result.values[..usize::from(result.count)].to_vec())
}

#[track_caller]
fn check(op: Op, values: &[u32], registers: &[u32], want: &[u32]) {
    let mut fp = FpState::default();
    assert_eq!(run(&mut fp, op, values, registers).as_deref(), Ok(want));
    assert_eq!(fp.sts, 0);
}

/// Accumulators 0, 2, … after `op` on cleared ones, as integers.
#[track_caller]
fn check_sums(op: Op, values: &[u32], registers: &[u32], want: &[i32]) {
    let mut fp = FpState::default();
    assert_eq!(run(&mut fp, op, values, registers).as_deref(), Ok(&[][..]));
    let sums = (0..want.len()).map(|i| f32::from_bits(fp.acc(2 * i)) as i32);
    assert_eq!(sums.collect::<Vec<_>>(), want);
}

#[test]
fn every_aux_form_of_the_float_families_has_a_function() {
    let names = ["f16", "f32", "f8v", "urand"];
    for form in forms().filter(|form| form.lane == Lane::Aux) {
        let ours = names.iter().any(|name| form.mnemonic.starts_with(name));
        assert_eq!(lookup(form.op).is_some(), ours, "{}", form.mnemonic);
    }
}

const ONE_TWO: u32 = 0x4000_3c00;
const THREE_FOUR: u32 = 0x4400_4200;

#[test]
fn broadcast_halves_stay_on_the_left_side() {
    check(
        Op::F16v2subABlA,
        &[2, 0, 1],
        &[ONE_TWO, THREE_FOUR],
        &[0xc200_c000],
    );
    check(
        Op::F16v2subABuA,
        &[2, 0, 1],
        &[ONE_TWO, THREE_FOUR],
        &[0xc000_bc00],
    );
    check(
        Op::F16v2addABuA,
        &[2, 0, 1],
        &[ONE_TWO, THREE_FOUR],
        &[0x4600_4500],
    );
    check(
        Op::F16v2mulABlA,
        &[2, 0, 1],
        &[THREE_FOUR, ONE_TWO],
        &[0x4600_4200],
    );
    check(
        Op::F16v2cmpltABlA,
        &[2, 0, 1],
        &[ONE_TWO, ONE_TWO],
        &[0xffff_0000],
    );
    check(Op::F16v2cmpgeABuA, &[2, 0, 1], &[ONE_TWO, THREE_FOUR], &[0]);
    check(
        Op::F16v2cmpeqABuA,
        &[2, 0, 1],
        &[ONE_TWO, ONE_TWO],
        &[0xffff_0000],
    );
    check(
        Op::F16v2cmpneABlA,
        &[2, 0, 1],
        &[ONE_TWO, ONE_TWO],
        &[0xffff_0000],
    );
    let registers = [ONE_TWO, 0, ONE_TWO, THREE_FOUR];
    check(
        Op::F16v4mulApBuAp,
        &[4, 0, 2],
        &registers,
        &[0x4400_4000, 0x4800_4600],
    );
    check(
        Op::F16v4subApBlAp,
        &[4, 0, 2],
        &registers,
        &[0xbc00_0000, 0xc200_c000],
    );
    check(
        Op::F16v4cmpgtApBuAp,
        &[4, 0, 2],
        &registers,
        &[0x0000_ffff, 0],
    );
    check(
        Op::F16v4cmpleApBlAp,
        &[4, 0, 2],
        &registers,
        &[u32::MAX, u32::MAX],
    );
}

#[test]
fn broadcast_singles_stay_on_the_left_side() {
    let [one, two, three] = [1.0f32, 2.0, 3.0].map(f32::to_bits);
    let registers = [two, 0, one, three];
    check(
        Op::F32v2subApBAp,
        &[4, 0, 2],
        &registers,
        &[one, (-1.0f32).to_bits()],
    );
    check(Op::F32v2cmpgeApBAp, &[4, 0, 2], &registers, &[u32::MAX, 0]);
    check(Op::F32v2cmpeqApBAp, &[4, 2, 2], &registers, &[u32::MAX, 0]);
    check(Op::F32v2cmpleApBAp, &[4, 0, 2], &registers, &[0, u32::MAX]);
}

#[test]
fn clamps_take_their_bounds_from_one_pair() {
    let [low, high, above, inside] = [-1.0f32, 1.0, 7.0, 0.5].map(f32::to_bits);
    let registers = [above, inside, low, high];
    check(
        Op::F32v2clampApApAp,
        &[4, 0, 2],
        &registers,
        &[high, inside],
    );
    check(
        Op::F16v4clampApApA,
        &[4, 0, 2],
        &[ONE_TWO, 0x3800_c400, 0x3e00_bc00],
        &[0x3e00_3c00, 0x3800_bc00],
    );
}

#[test]
fn unit_numbers_are_never_zero_and_lie_between_minus_and_plus_one_half() {
    let ends = [0x0000_ffff, 0x7fff_8000];
    check(
        Op::F16v4sufromuiApAp,
        &[2, 0],
        &ends,
        &[0xb800_3800, 0x8080_0080],
    );
    check(
        Op::F32v2sufromuiApAp,
        &[2, 0],
        &[0, 0x8000_0000],
        &[0xbf00_0000, 0x2f00_0000],
    );
}

#[test]
fn accumulating_forms_add_to_the_even_accumulators() {
    let quad = [ONE_TWO, THREE_FOUR, 0xc000_bc00, 0x3c00_3c00];
    check_sums(Op::F16v8accAq, &[0], &quad, &[1, 2, 3, 4, -1, -2, 1, 1]);
    check_sums(Op::F16v8absaccAq, &[0], &quad, &[1, 2, 3, 4, 1, 2, 1, 1]);
    check_sums(Op::F16v8sqaccAq, &[0], &quad, &[1, 4, 9, 16, 1, 4, 1, 1]);
    check_sums(Op::F16v4accAp, &[0], &quad, &[1, 2, 3, 4, 0]);
    check_sums(Op::F16v4cmacApAp, &[0, 2], &quad, &[-5, 7, 0]);
    check_sums(Op::F16v2cmacAA, &[0, 1], &quad, &[11, 0]);
    let singles = [-1.0f32, 2.0, 3.0, -4.0].map(f32::to_bits);
    check_sums(Op::F32v4absaccAq, &[0], &singles, &[1, 2, 3, 4, 0]);
    check_sums(Op::F32v4sqaccAq, &[0], &singles, &[1, 4, 9, 16, 0]);
    check_sums(Op::F32v2macApAp, &[0, 2], &singles, &[-3, -8, 0]);
    check_sums(Op::F32v2aopApApZ8, &[0, 2, 0], &singles, &[-3, 6, 4, -8]);
}

#[test]
fn an_enabled_exception_leaves_everything_as_it_was() {
    let mut fp = FpState::new(5);
    fp.ctl = flag::OFLO | control::ESR;
    fp.sts = flag::DIV0;
    fp.set_acc(0, f32::MAX.to_bits());
    let before = fp.clone();
    let registers = [f32::MAX.to_bits(); 4];
    let result = run(&mut fp, Op::F32v4accAq, &[0], &registers);
    assert_eq!(result, Err(AuxFault::FloatingPoint));
    assert_eq!(fp, before);
    let overflow = run(&mut fp, Op::F32v2tof16AAp, &[2, 0], &registers);
    assert_eq!(overflow, Err(AuxFault::FloatingPoint));
    assert_eq!(fp, before, "the generator has not moved");
}

#[test]
fn flags_that_are_not_enabled_stick_until_they_are_cleared() {
    let mut fp = FpState {
        ctl: flag::OFLO,
        ..FpState::default()
    };
    assert!(run(&mut fp, Op::F32ooxAA, &[1, 0], &[0]).is_ok());
    assert!(run(&mut fp, Op::F32addAAA, &[1, 0, 0], &[0x7fc0_0000]).is_ok());
    assert_eq!(fp.csr(number::FP_STS), flag::DIV0 | flag::INV);
    fp.set_csr(number::FP_CLR, flag::INV);
    assert_eq!(fp.csr(number::FP_STS), flag::DIV0);
    fp.launch(0, 0, 0);
    assert_eq!(fp.csr(number::FP_STS), 0);
}

#[test]
fn an_unknown_rounding_mode_stops_a_strict_simulation() {
    let mut fp = FpState::default();
    fp.set_csr(number::FP_CTL, 1 << 16);
    let result = run(&mut fp, Op::F32addAAA, &[1, 0, 0], &[0]);
    assert!(matches!(result, Err(AuxFault::Undefined(_))));
}

#[test]
fn a_scratch_register_nobody_wrote_stops_a_strict_simulation() {
    let mut fp = FpState::new(9);
    let before = fp.clone();
    let result = run(&mut fp, Op::F32v2axpyApApAp, &[4, 0, 2], &[0; 4]);
    assert!(matches!(result, Err(AuxFault::Undefined(_))));
    assert_eq!(fp, before);
}

#[test]
fn clearing_the_accumulators_clears_all_of_them() {
    let mut fp = FpState::new(3);
    assert!((0..32).any(|index| fp.acc(index) != 0));
    fp.set_csr(number::FP_CLR, control::ZAACC);
    assert!((0..32).all(|index| fp.acc(index) == 0));
}

#[test]
fn stochastic_rounding_draws_once_an_instruction_and_only_where_halves_are_rounded() {
    let mut fp = FpState {
        ctl: control::ESR,
        prng: Prng::seed(1),
        ..FpState::default()
    };
    let mut reference = Prng::seed(1);
    for (op, draws) in [
        (Op::F16v4addApApAp, true),
        (Op::F32v4tof16ApAq, true),
        (Op::F16v2expAA, true),
        (Op::F16v4hihov4ampApApApZ6, true),
        (Op::F16v4maxApApAp, false),
        (Op::F16v2cmpeqAAA, false),
        (Op::F32v2addApApAp, false),
        (Op::F16v8accAq, false),
    ] {
        assert!(run(&mut fp, op, &[4, 0, 2], &[0; 4]).is_ok());
        if draws {
            reference.step();
        }
        assert_eq!(fp.prng, reference, "{op:?}");
    }
}
