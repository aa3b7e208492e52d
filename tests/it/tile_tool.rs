//! The tile tool, from its arguments to what it prints.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::{env, fs};

use expect_test::{Expect, expect};
use tracing_subscriber::fmt::writer::BoxMakeWriter;

#[path = "../tools/tile/command.rs"]
mod command;
#[path = "../tools/tile/options.rs"]
mod options;
#[path = "../tools/tile/report.rs"]
mod report;
#[path = "../tools/tile/run.rs"]
mod run;
#[path = "../tools/tile/setting.rs"]
mod setting;
#[path = "../tools/tile/source.rs"]
mod source;
#[path = "../tools/tile/stop.rs"]
mod stop;
#[path = "../tools/tile/words.rs"]
mod words;

use command::{Answer, ENDED, REFUSED, STOPPED, execute};

/// What the tool answers to `arguments`, separated by blanks; DIR/ stands for the folder of
/// [`file`], KERNELS/ for that of the kernels.
fn tool(arguments: &str, trace: BoxMakeWriter) -> Answer {
    let kernels = concat!(env!("CARGO_MANIFEST_DIR"), "/device/kernels/");
    let arguments = arguments.split_whitespace().map(|argument| {
        argument
            .replace("DIR/", &folder())
            .replace("KERNELS/", kernels)
    });
    execute(
        core::iter::once("tile".to_owned())
            .chain(arguments)
            .map(OsString::from),
        trace,
    )
}

fn folder() -> String {
    concat!(env!("CARGO_TARGET_TMPDIR"), "/").to_owned()
}

/// Writes a file of that name for the tool to read.
fn file(name: &str, contents: impl AsRef<[u8]>) {
    let path = PathBuf::from(folder()).join(name);
    fs::write(path, contents).expect("tests may write to their folder");
}

/// Checks the exit code, and everything printed.
#[track_caller]
fn check(arguments: &str, code: u8, want: &Expect) {
    let answer = tool(arguments, BoxMakeWriter::new(io::sink));
    let printed = answer.results + &answer.complaints;
    want.assert_eq(
        &printed
            .replace(&folder(), "DIR/")
            .replace(env!("CARGO_MANIFEST_DIR"), ""),
    );
    assert_eq!(answer.code, code);
}

/// Checks that the complaint contains `want`.
#[track_caller]
fn refused(arguments: &str, want: &str) {
    let answer = tool(arguments, BoxMakeWriter::new(io::sink));
    assert!(answer.complaints.contains(want), "{want}: {answer:?}");
    assert_eq!((answer.code, answer.results.as_str()), (REFUSED, ""));
}

/// Adds two words of an argument block.
const ADD: &str = "
    .globl add_words
add_words:
    ld32 $m0, $m2, $mzero, 0
    ld32 $m1, $m2, $mzero, 1
    add $m0, $m0, $m1
    st32 $m0, $m2, $mzero, 2
    exitz $mzero
";

/// The arguments of a run of [`ADD`] on 5 and 7.
const RUN: &str = "--set m2=0x60000 --mem 0x6_0000=hex:05000000_07000000";

#[test]
fn a_worker_program_runs_and_shows_memory_and_cycles() {
    file("shows.s", ADD);
    check(
        &format!("DIR/shows.s {RUN} --dump cycles,mem:0x60000+12,mem:0x60008+4:u32"),
        ENDED,
        &expect![[r#"
            device=sim source=DIR/shows.s entry=add_words at 0x4c000
            ended: worker 0 exited with status 1
            cycles 25  bundles 5  w0 slots 5
            0x60000   05 00 00 00  07 00 00 00  0c 00 00 00
            0x60008            12
        "#]],
    );
}

#[test]
fn a_kernel_of_the_bake_runs_in_the_supervisor_and_returns_into_its_end() {
    file("words.bin", *b"sixteen bytes...");
    let arguments = "--mem 0x60000=hex:00010600000206000200_0000 --mem 0x60100=DIR/words.bin";
    check(
        &format!(
            "KERNELS/copy.S --context supervisor --set m2=0x60000 {arguments} --dump mem:0x60200+16"
        ),
        ENDED,
        &expect![[r#"
            device=sim source=/device/kernels/copy.S entry=copy at 0x4c000
            ended: trap 0 of the supervisor
            0x60200   73 69 78 74  65 65 6e 20  62 79 74 65  73 2e 2e 2e
        "#]],
    );
}

#[test]
fn registers_are_set_for_one_worker_or_for_all() {
    file(
        "set.s",
        ".globl start\nstart: add $m0, $m0, $m1\nexitnz $mzero\n",
    );
    let answer = tool(
        "DIR/set.s --workers 6 --set m0=1 --set m1=-1 --set w3.m1=2 --set a0=1.5f --set w2.acc3=0x40 \
         --set acc4=7 --set CWEI_1_1=0x123456789abcdef0 --set FP_NFMT=1 --set WORKER5_BASE=0x6_0000 \
         --vertex-base 0x70000 --dump regs,acc,cwei,csr,cycles --json",
        BoxMakeWriter::new(io::sink),
    );
    assert_eq!(answer.code, ENDED, "{answer:?}");
    let report: serde_json::Value =
        serde_json::from_str(&answer.results).expect("the report is JSON");
    #[rustfmt::skip] // One value a line.
    let values = [
        ("/registers/worker 0/m0",  "0x0"),
        ("/registers/worker 3/m0",  "0x3"),
        ("/registers/worker 5/m1",  "0xffffffff"),
        ("/registers/worker 5/a0",  "0x3fc00000"),
        ("/registers/worker 4/m12", "0x0"),
        ("/registers/worker 5/m12", "0x60000"),
        ("/registers/worker 1/m13", "0x70000"),
        ("/acc/worker 2/acc3",      "0x40"),
        ("/acc/worker 1/acc4",      "0x7"),
        ("/cwei/5",                 "0x123456789abcdef0"),
        ("/csr/worker 0/FP_NFMT",   "0x1"),
        ("/csr/worker 4/WSR",       "0x4"),
        ("/entry/address",          "0x4c000"),
        ("/ending",                 "exited"),
    ];
    for (place, want) in values {
        let got = report.pointer(place).and_then(serde_json::Value::as_str);
        assert_eq!(got, Some(want), "{place} in {report:#}");
    }
    assert_eq!(report["bundles"], 12);
    assert_eq!(report["status"]["w5"], false);
}

#[test]
fn what_nobody_wrote_follows_the_fill_seed() {
    file("seed.s", ".globl start\nstart: exitz $mzero\n");
    let run = |seed| {
        tool(
            &format!("DIR/seed.s --fill-seed {seed}"),
            BoxMakeWriter::new(io::sink),
        )
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn a_stop_says_where_and_what_the_registers_held() {
    file(
        "stops.s",
        "    .globl start\nstart:\n    setzi $m3, 0x60001\n    ld32 $m1, $m3, $mzero, 0\n",
    );
    check(
        "DIR/stops.s --set m1=7 --dump cycles",
        STOPPED,
        &expect![[r#"
            device=sim source=DIR/stops.s entry=start at 0x4c000
            stopped: physical tile 0, worker 0, pc 0x4c004, cycle 6, stops.s:4 (start+0x4)
              instruction  ld32 $m1, $m3, $m15, 0
              operands     $m3 = 0x60001, $m15 = 0x0
              cause        exception INVALID_ADDR: address 0x60001 is not a multiple of 4
            cycles 7  bundles 2  w0 slots 1
        "#]],
    );
}

#[test]
fn an_endless_program_ends_at_the_limit() {
    file("endless.s", ".globl start\nstart: bri start\n");
    check(
        "DIR/endless.s --max-bundles 100 --dump cycles",
        STOPPED,
        &expect![[r#"
            device=sim source=DIR/endless.s entry=start at 0x4c000
            limit: physical tile 0, worker 0, pc 0x4c000, cycle 595, endless.s:2 (start)
              instruction  bri 0x4c000
              cause        100 bundles were issued
            cycles 595  bundles 100  w0 slots 100
        "#]],
    );
}

#[test]
fn a_barrier_with_other_tiles_is_reported() {
    file("alone.s", ".globl start\nstart: sync 3\ntrap 0\n");
    check(
        "DIR/alone.s --context supervisor --dump cycles",
        STOPPED,
        &expect![[r#"
            device=sim source=DIR/alone.s entry=start at 0x4c000
            stuck: physical tile 0, supervisor, pc 0x4c000, cycle 0, alone.s:2 (start)
              instruction  sync 3
              cause        waits for a barrier of zone 3, which one tile alone never sees
            cycles 0  bundles 1
        "#]],
    );
}

#[test]
fn complaints_about_a_source_name_file_line_and_column() {
    file(
        "wrong.s",
        ".globl start\nstart:\n    addd $m0, $m0, 1\n    add $m0, $m1\n",
    );
    check(
        "DIR/wrong.s",
        REFUSED,
        &expect![[r#"
        DIR/wrong.s:3:5: unknown instruction `addd`; `add` exists
        DIR/wrong.s:4:5: add with 2 operands; it has 3
    "#]],
    );
    file(
        "wrong.S",
        "#include \"kernel.h\"\n\nWORKER start\n    addd $m0, $m0, CTXT_WORKERS\n",
    );
    check(
        "DIR/wrong.S --entry start",
        REFUSED,
        &expect![[r#"
        DIR/wrong.S:4:5: unknown instruction `addd`; `add` exists
    "#]],
    );
    file("lost.S", "\n#include \"nowhere.h\"\n");
    refused("DIR/lost.S", "lost.S:2:10");
    refused("DIR/shows_nothing.s", "shows_nothing.s: No such file");
}

#[test]
fn memory_that_overlaps_the_program_is_refused() {
    file("overlap.s", ADD);
    check(
        "DIR/overlap.s --mem 0x4c010=hex:00000000",
        REFUSED,
        &expect![[r#"
            --mem 0x4c010: bytes 0x4c010 to 0x4c014 overlap .text of the program, 0x4c000 to 0x4c014
        "#]],
    );
    check(
        "DIR/overlap.s --org 0x50000 --mem 0x4fffc=hex:0000000000",
        REFUSED,
        &expect![[r#"
            --mem 0x4fffc: bytes 0x4fffc to 0x50001 overlap .text of the program, 0x50000 to 0x50014
        "#]],
    );
    check(
        "DIR/overlap.s --mem 0xe7ffe=hex:000000",
        REFUSED,
        &expect![[r#"
            --mem 0xe7ffe: 3 bytes leave tile memory, 0x4c000 to 0xe8000
        "#]],
    );
    let answer = tool(
        &format!("DIR/overlap.s {RUN} --mem 0x4c014=hex:00"),
        BoxMakeWriter::new(io::sink),
    );
    assert_eq!(answer.code, ENDED, "{answer:?}");
}

#[test]
fn options_that_make_no_sense_are_refused() {
    file("options.s", ADD);
    refused("", "<FILE.S");
    refused("DIR/options.s --workers 2", "expected 1 or 6");
    refused("DIR/options.s --org 0x4c004", "0x4c004 is no multiple of 8");
    refused("DIR/options.s --org 0x80000", "executable memory");
    refused("DIR/options.s --set m12=1", "WORKER0_BASE");
    refused("DIR/options.s --set m2=0x100000000", "more than 32 bits");
    refused("DIR/options.s --set a8=1", "a8 is none of a0 to a7");
    refused("DIR/options.s --set w6.m0=1", "w6 is none of w0 to w5");
    refused("DIR/options.s --set w1.m0=1", "worker 1 does not run");
    refused("DIR/options.s --set w0.cwei3=1", "belongs to the tile");
    refused("DIR/options.s --set CWEI_16_0=1", "CWEI_15_3");
    refused("DIR/options.s --set WSR=1", "set by what the worker does");
    refused("DIR/options.s --set SCOUNT_L=1", "no value that can be set");
    refused(
        "DIR/options.s --set nonsense=1",
        "there is no register nonsense",
    );
    refused("DIR/options.s --mem 0x60000", "expected ADDR=FILE");
    refused("DIR/options.s --mem 0x60000=hex:123", "3 hex digits");
    refused(
        "DIR/options.s --mem 0x60000=DIR/not_there.bin",
        "not_there.bin: No such file",
    );
    refused(
        "DIR/options.s --dump mem:0xe8000+4",
        "not all in tile memory",
    );
    refused(
        "DIR/options.s --dump mem:0x60000+3:f16",
        "no whole number of 2",
    );
    refused("DIR/options.s --entry nowhere", "there is no label nowhere");
    refused(
        "KERNELS/copy.S --context supervisor --workers 6",
        "starts its own",
    );
    refused("DIR/options.s --disassemble 0", "cannot be used with");
    refused("--disassemble xyz", "no file, and");
}

#[test]
fn words_are_printed_as_text_canonical_and_exact() {
    file(
        "words.code",
        [0x02, 0x16, 0x20, 0xc4, 0x00, 0x00, 0xd0, 0x9a],
    );
    check(
        "--disassemble DIR/words.code 0x4087fffd,52008000",
        ENDED,
        &expect![[r#"
            0x4c000  c4201602 9ad00000  { sub $m0, $m1, $m2 ; fnop }
            0x4c008  4087fffd           bri 0x1ffff4
            0x4c00c  52008000           and $a0, $a0, 0
        "#]],
    );
    check(
        "--disassemble 4087fffd52008000 5f20f030 --exact",
        ENDED,
        &expect![[r#"
            0x4c000  4087fffd           bri 524285
            0x4c004  52008000           .word 0x52008000
            0x4c008  5f20f030           .word 0x5f20f030
        "#]],
    );
    check(
        "--disassemble 41000001 --supervisor",
        ENDED,
        &expect![[r#"
            0x4c000  41000001           get $m0, $SSR
        "#]],
    );
}

/// Keeps what is written.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no writer panics").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_trace_has_one_line_an_instruction() {
    file("traced.s", ADD);
    let kept = Kept::default();
    let writer = kept.clone();
    let trace = BoxMakeWriter::new(move || writer.clone());
    let answer = tool(&format!("DIR/traced.s {RUN} --trace"), trace);
    assert_eq!(answer.code, ENDED, "{answer:?}");
    let trace = kept.0.lock().expect("no writer panics");
    expect![[r#"
        ld32 $m0, $m2, $m15, 0 tile=physical tile 0 context=worker 0 pc=0x4c000 cycles=0
        ld32 $m1, $m2, $m15, 1 tile=physical tile 0 context=worker 0 pc=0x4c004 cycles=6
        add $m0, $m0, $m1 tile=physical tile 0 context=worker 0 pc=0x4c008 cycles=12
        st32 $m0, $m2, $m15, 2 tile=physical tile 0 context=worker 0 pc=0x4c00c cycles=18
        exitz $m15 tile=physical tile 0 context=worker 0 pc=0x4c010 cycles=24
    "#]]
    .assert_eq(&String::from_utf8_lossy(&trace));
}
