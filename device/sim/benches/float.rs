//! The forms kernels spend their time in: issues a second on one core.

use divan::Bencher;
use divan::counter::ItemsCount;
use tilekiln_isa::op::Op;
use tilekiln_sim::float::{AuxForm, FpState, Weights};
use tilekiln_sim::settings::Settings;

const ISSUES: u32 = 4096;

/// Nearest even, and stochastic rounding.
const MODES: [u32; 2] = [0, 1 << 19];

fn main() {
    divan::main();
}

/// A half between 2^-3 and 2 in magnitude, from a counter.
fn half(seed: u32) -> u32 {
    (seed.wrapping_mul(0x9e37_79b9) >> 16) & 0x8fff | 0x3000
}

fn pair(seed: u32) -> u32 {
    half(2 * seed) | half(2 * seed + 1) << 16
}

/// Issues one form over changing data; `values` gives the operands of issue `i`.
fn issue(bencher: Bencher<'_, '_>, control: u32, op: Op, values: impl Fn(u32) -> [u32; 5] + Sync) {
    let form = AuxForm::of(op).expect("a float form");
    let settings = Settings::default();
    let mut weights = Weights::default();
    for index in 0..64 {
        let word = u64::from(pair(index + 1)) | u64::from(pair(index + 77)) << 32;
        weights.set(index as usize, word);
    }
    let data: Vec<[u32; 16]> = (0..256)
        .map(|i| core::array::from_fn(|r| if r < 8 { pair(8 * i + r as u32) } else { 0 }))
        .collect();
    bencher.counter(ItemsCount::new(ISSUES)).bench_local(|| {
        let mut fp = FpState::default();
        fp.set_csr(0x102, control);
        fp.set_csr(0x107, 1);
        for i in 0..ISSUES {
            let mut a = data[i as usize % data.len()];
            divan::black_box(form.execute(&values(i), &mut a, &mut fp, &weights, &settings));
        }
        fp
    });
}

#[divan::bench(args = MODES)]
fn f16v4hihov4amp(bencher: Bencher<'_, '_>, control: u32) {
    issue(bencher, control, Op::F16v4hihov4ampApApApZ6, |i| {
        [4, 0, 2, i % 4, 0]
    });
}

#[divan::bench(args = MODES)]
fn f16v2exp(bencher: Bencher<'_, '_>, control: u32) {
    issue(bencher, control, Op::F16v2expAA, |_| [4, 0, 0, 0, 0]);
}

#[divan::bench(args = MODES)]
fn f16v4mul(bencher: Bencher<'_, '_>, control: u32) {
    issue(bencher, control, Op::F16v4mulApApAp, |_| [4, 0, 2, 0, 0]);
}

#[divan::bench]
fn f16v4max(bencher: Bencher<'_, '_>) {
    issue(bencher, 0, Op::F16v4maxApApAp, |_| [4, 0, 2, 0, 0]);
}

#[divan::bench]
fn f16v8acc(bencher: Bencher<'_, '_>) {
    issue(bencher, 0, Op::F16v8accAq, |_| [0, 0, 0, 0, 0]);
}

#[divan::bench]
fn f8v8hihov4amp(bencher: Bencher<'_, '_>) {
    issue(bencher, 0, Op::F8v8hihov4ampApApApZ6, |i| {
        [4, 0, 2, i % 4, 0]
    });
}
