//! Encode, decode, parse, print: words a second.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use tilekiln_isa::{Instruction, Mode, decode_word, encode, parse, print};

fn main() {
    divan::main();
}

/// Two words of every form that a worker executes.
fn words() -> Vec<u32> {
    let golden = include_str!("../tests/golden/forms.tsv");
    golden
        .lines()
        .filter(|line| line.ends_with("\tworker") || line.ends_with("\tboth"))
        .filter_map(|line| u32::from_str_radix(line.split('\t').next()?, 16).ok())
        .collect()
}

fn instructions() -> Vec<Instruction> {
    words()
        .into_iter()
        .filter_map(|word| decode_word(word).ok())
        .collect()
}

#[divan::bench]
fn encoding(bencher: Bencher<'_, '_>) {
    let all = instructions();
    bencher.counter(ItemsCount::new(all.len())).bench(|| {
        black_box(&all)
            .iter()
            .fold(0, |sum: u32, one| sum.wrapping_add(encode(one)))
    });
}

#[divan::bench]
fn decoding(bencher: Bencher<'_, '_>) {
    let all = words();
    bencher.counter(ItemsCount::new(all.len())).bench(|| {
        black_box(&all)
            .iter()
            .filter(|word| black_box(decode_word(**word)).is_ok())
            .count()
    });
}

#[divan::bench]
fn printing(bencher: Bencher<'_, '_>) {
    let all = instructions();
    bencher.counter(ItemsCount::new(all.len())).bench(|| {
        let text = |one| print::instruction(one, Mode::Worker).to_string().len();
        black_box(&all).iter().map(text).sum::<usize>()
    });
}

#[divan::bench]
fn parsing(bencher: Bencher<'_, '_>) {
    let text: Vec<String> = instructions()
        .iter()
        .map(|one| print::instruction(one, Mode::Worker).to_string())
        .filter(|text| parse::line(text, Mode::Worker).is_ok())
        .collect();
    bencher.counter(ItemsCount::new(text.len())).bench(|| {
        let read = |text: &&String| black_box(parse::line(text, Mode::Worker)).is_ok();
        black_box(&text).iter().filter(read).count()
    });
}
