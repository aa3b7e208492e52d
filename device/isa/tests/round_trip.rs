//! Words → text → words, over the golden files and over random forms.
//!
//! `UPDATE_EXPECT=1 cargo test -p tilekiln-isa` writes `forms.tsv` and the complaints of
//! `reject.tsv` again; the other files hold facts and are edited by hand.

use std::fmt::Write;

use arbtest::arbitrary::{self, Unstructured};
use arbtest::arbtest;
use expect_test::expect_file;
use tilekiln_isa::decode::read;
use tilekiln_isa::form::{COISSUE, Context, Form, INLINE, Kind, Lane, MAX_OPERANDS};
use tilekiln_isa::{Decoded, ExecutionBundle, Instruction, Mode, decode_word, encode};
use tilekiln_isa::{parse, print, table};

/// The lines of a golden file: its columns, and the modes the last of them names.
fn lines(text: &str) -> impl Iterator<Item = (Vec<&str>, Vec<Mode>)> {
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let columns: Vec<&str> = line.split('\t').collect();
            let modes = match columns.last() {
                Some(&"worker") => vec![Mode::Worker],
                Some(&"supervisor") => vec![Mode::Supervisor],
                _ => vec![Mode::Worker, Mode::Supervisor],
            };
            (columns, modes)
        })
}

/// Words as the golden files write them.
fn hex(words: &[u32]) -> String {
    words
        .iter()
        .map(|word| format!("{word:08x}"))
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn text_assembles_to_the_golden_words() {
    for (columns, modes) in lines(include_str!("golden/assemble.tsv")) {
        for mode in modes {
            let words = parse::words(columns[0], mode).map(|words| hex(&words));
            assert_eq!(words.as_deref(), Ok(columns[1]), "{} ({mode})", columns[0]);
        }
    }
}

#[test]
fn words_print_as_the_golden_text() {
    for (columns, modes) in lines(include_str!("golden/disassemble.tsv")) {
        let word = |hex| u32::from_str_radix(hex, 16).expect("a hex word");
        let (first, second) = match columns[0].split_once(' ') {
            Some((first, second)) => (word(first), Some(word(second))),
            None => (word(columns[0]), None),
        };
        for mode in modes {
            assert_eq!(
                print::words(first, second, mode).0,
                columns[1],
                "{} ({mode})",
                columns[0]
            );
        }
    }
}

#[test]
fn wrong_text_is_refused_with_a_reason() {
    let golden = include_str!("golden/reject.tsv");
    let mut got = String::from("# Columns: text, our complaint, who may not write it.\n");
    for (columns, modes) in lines(golden) {
        let complaint = |mode| match parse::words(columns[0], mode) {
            Ok(words) => panic!("{} ({mode}) assembles to {}", columns[0], hex(&words)),
            Err(error) => error.to_string(),
        };
        let complaints: Vec<String> = modes.into_iter().map(complaint).collect();
        _ = writeln!(got, "{}\t{}\t{}", columns[0], complaints[0], columns[2]);
    }
    expect_file!["golden/reject.tsv"].assert_eq(&got);
}

/// A value of every operand of `form`: the lowest, the highest, or something between.
fn corner(form: &'static Form, corner: usize) -> Instruction {
    let mut values = [0; MAX_OPERANDS];
    for (at, (operand, value)) in form.operands.iter().zip(&mut values).enumerate() {
        let field = match corner {
            0 => 0,
            1 => u32::MAX,
            _ => [
                0x1234_5678,
                0xabcd_ef01,
                0x0f0f_0f0f,
                0x7654_3210,
                0x9999_9999,
            ][at],
        };
        let raw = operand.insert(field & !(operand.kind.group() - 1));
        *value = match operand.kind {
            Kind::MPair => operand.extract(raw).min(10),
            Kind::High => operand.extract(operand.insert(field)),
            _ => operand.extract(raw),
        };
    }
    Instruction { form, values }
}

#[test]
fn every_form_goes_from_words_to_text_and_back() {
    let mut got = String::from("# Columns: words, canonical text, exact text, who executes it.\n");
    for form in table::forms() {
        let (mode, who) = match form.context {
            Context::Both => (Mode::Worker, "both"),
            Context::Worker => (Mode::Worker, "worker"),
            Context::Supervisor => (Mode::Supervisor, "supervisor"),
        };
        for instruction in (0..3).map(|at| corner(form, at)) {
            let one = match form.traits.has(INLINE) {
                true => Decoded::Inline(instruction, 0x1234_5678),
                false => Decoded::Solo(instruction),
            };
            let words: Vec<u32> = one.words().collect();
            assert_eq!(read(words[0], words.get(1).copied(), mode), Ok(one));
            let (canonical, exact) = (print::decoded(&one, mode), print::exact(&one, mode));
            if !exact.starts_with(".word") {
                assert_eq!(parse::words(&exact, mode), Ok(words.clone()), "{exact}");
            }
            _ = writeln!(got, "{}\t{canonical}\t{exact}\t{who}", hex(&words));
        }
    }
    expect_file!["golden/forms.tsv"].assert_eq(&got);
}

/// Any instruction of `lane` that decodes; of either lane when it is `None`.
fn instruction(u: &mut Unstructured<'_>, lane: Option<Lane>) -> arbitrary::Result<Instruction> {
    let forms: Vec<&'static Form> = table::forms()
        .filter(|form| lane.is_none_or(|lane| form.lane == lane && form.can_coissue()))
        .collect();
    let form = *u.choose(&forms)?;
    let word = form.bits | u.arbitrary::<u32>()? & !form.mask & !COISSUE;
    let mut values = [0; MAX_OPERANDS];
    for (operand, value) in form.operands.iter().zip(&mut values) {
        let any = operand.extract(word);
        *value = any
            - if operand.kind.is_register() {
                any % operand.kind.group()
            } else {
                0
            };
        if operand.kind == Kind::MPair {
            *value = (*value).min(10);
        }
    }
    Ok(Instruction { form, values })
}

#[test]
fn decoding_undoes_encoding() {
    arbtest(|u| {
        let any = instruction(u, None)?;
        assert_eq!(decode_word(encode(&any)), Ok(any));
        Ok(())
    });
}

#[test]
fn encoding_undoes_decoding() {
    arbtest(|u| {
        let word = u.arbitrary::<u32>()?;
        if let Ok(any) = decode_word(word) {
            assert_eq!(encode(&any) | word & COISSUE, word);
        }
        Ok(())
    });
}

#[test]
fn exact_text_of_any_instruction_or_bundle_assembles_back() {
    arbtest(|u| {
        let one = if u.arbitrary()? {
            Decoded::Solo(instruction(u, None)?)
        } else {
            let main = instruction(u, Some(Lane::Main))?;
            Decoded::Bundle(ExecutionBundle {
                main,
                aux: instruction(u, Some(Lane::Aux))?,
            })
        };
        let (mode, inline) = match one {
            Decoded::Solo(solo) if solo.form.context == Context::Supervisor => {
                (Mode::Supervisor, solo.form.traits.has(INLINE))
            }
            Decoded::Bundle(bundle) if bundle.clash().is_some() => return Ok(()),
            _ => (Mode::Worker, false),
        };
        let text = print::exact(&one, mode);
        if !inline && !text.starts_with(".word") {
            assert_eq!(parse::line(&text, mode), Ok(vec![one]), "{text}");
        }
        Ok(())
    });
}

#[test]
fn no_words_and_no_text_make_a_reader_panic() {
    const PIECES: &[&str] = &[
        "add",
        "ld32",
        "sub",
        "ldconst",
        "sendpicp",
        "$m0",
        "$a0:1",
        "$m2:3+=",
        "$a3:BL",
        "$PC",
        " ",
        ", ",
        ";",
        "{",
        "}",
        "-",
        "(",
        ")",
        "<<",
        "/",
        "1",
        "0x",
        "9223372036854775807",
        "1.0h",
        "~",
        ".long",
        "\n",
        "é",
        "$",
        ":",
        "-0x8000000000000000",
    ];
    arbtest(|u| {
        let (first, second) = (u.arbitrary()?, u.arbitrary()?);
        let mode = *u.choose(&[Mode::Worker, Mode::Supervisor])?;
        _ = print::words(first, second, mode);
        let mut text = String::from(u.arbitrary::<&str>()?);
        for _ in 0..u.int_in_range(0..=12)? {
            text += u.choose(PIECES)?;
        }
        _ = parse::line(&text, mode).map_err(|error| error.to_string());
        Ok(())
    });
}
