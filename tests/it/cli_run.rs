//! The program at work: arrays in and out, verification, faults, an interrupt.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use half::f16;
use tilekiln::card::SimOptions;
use tilekiln_bundle::digest;

use crate::bake::{Graph, Program};
use crate::cli::{Folder, tilekiln};

/// Two heads of 16 columns on two tiles.
fn small(lines: &str) -> Program {
    let text = Graph {
        tiles: 2,
        query: [1, 17, 2, 16],
        keys: 33,
        lines: "",
    }
    .text();
    Program::new(&format!("{text}\n{lines}"))
}

/// A `.npy` file of our own making, so that every part of it can be wrong.
fn npy(folder: &Folder, name: &str, header: &str, data: &[u8]) -> PathBuf {
    let mut header = header.to_owned();
    while !(header.len() + 11).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.bytes());
    bytes.extend(data);
    write(folder, name, &bytes)
}

fn write(folder: &Folder, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.file(name);
    std::fs::write(&path, bytes).expect("a temporary file");
    path
}

fn header(descr: &str, fortran: bool, shape: &str) -> String {
    let fortran = if fortran { "True" } else { "False" };
    format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}")
}

fn halves(elements: &[f16]) -> Vec<u8> {
    elements
        .iter()
        .flat_map(|element| element.to_le_bytes())
        .collect()
}

fn singles(elements: &[f16]) -> Vec<u8> {
    elements
        .iter()
        .flat_map(|element| element.to_f32().to_le_bytes())
        .collect()
}

/// `run` on the virtual card with a bundle of our own.
fn run(bundle: &Path, inputs: [&Path; 3], output: &Path, more: &[&str]) -> Output {
    let inputs = ["query", "key", "value"].iter().zip(inputs);
    let inputs: Vec<_> = inputs
        .map(|(name, path)| format!("{name}={}", path.display()))
        .collect();
    let output = format!("attention={}", output.display());
    let bundle = bundle.to_str().expect("our own name");
    let mut arguments = vec![
        "run", "--device", "sim", "--bundle", bundle, "--output", &output,
    ];
    for input in &inputs {
        arguments.extend(["--input", input.as_str()]);
    }
    arguments.extend(more);
    tilekiln(&arguments)
}

/// The end of a `.npy` file, as f16.
fn elements(path: &Path, count: usize) -> Vec<f16> {
    let bytes = std::fs::read(path).expect("the run wrote it");
    let data = &bytes[bytes.len() - 2 * count..];
    data.chunks_exact(2)
        .map(|pair| f16::from_le_bytes([pair[0], pair[1]]))
        .collect()
}

#[test]
fn arrays_of_f16_give_an_array_of_the_same_rank() {
    let (program, folder) = (small(""), Folder::new("half"));
    let bundle = write(&folder, "graph.bin", program.bundle.bytes());
    let inputs = program.normal(0.5, 0);
    let shapes = ["(1, 17, 2, 16)", "(1, 33, 2, 16)", "(1, 33, 2, 16)"];
    let files: Vec<_> = (0..3)
        .map(|n| {
            npy(
                &folder,
                &format!("{n}.npy"),
                &header("<f2", false, shapes[n]),
                &halves(&inputs[n]),
            )
        })
        .collect();
    let out = folder.file("o.npy");
    let ran = run(&bundle, [&files[0], &files[1], &files[2]], &out, &[]);
    assert_eq!(
        ran.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    assert!(ran.stdout.starts_with(b"device=sim\n"));
    let head = std::fs::read(&out).expect("the run wrote it");
    let head = String::from_utf8_lossy(&head[..128]).into_owned();
    assert!(
        head.contains("(1, 17, 2, 16") && head.contains("<f2"),
        "{head}"
    );
    assert_eq!(
        elements(&out, 17 * 32),
        program.run(&SimOptions::default(), &inputs).0
    );
}

#[test]
fn a_stream_of_f32_gives_frames_with_merged_heads() {
    let (program, folder) = (small(""), Folder::new("stream"));
    let bundle = write(&folder, "graph.bin", program.bundle.bytes());
    let frames: Vec<_> = (0..3).map(|frame| program.normal(0.5, frame)).collect();
    let file = |n: usize, shape| {
        let data: Vec<u8> = frames.iter().flat_map(|frame| singles(&frame[n])).collect();
        npy(
            &folder,
            &format!("{n}.npy"),
            &header("<f4", false, shape),
            &data,
        )
    };
    let (query, key) = (file(0, "(3, 1, 17, 32)"), file(1, "(3, 1, 33, 32)"));
    let (value, out) = (file(2, "(3, 1, 33, 32)"), folder.file("o.npy"));
    let ran = run(&bundle, [&query, &key, &value], &out, &["--json"]);
    assert_eq!(
        ran.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    let report: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("one object");
    assert_eq!(report["device"], "sim");
    assert_eq!(report["frames"], 3);
    assert_eq!(report["cycles"].as_array().map(Vec::len), Some(3));
    let got = elements(&out, 3 * 17 * 32);
    for (frame, got) in frames.iter().zip(got.chunks_exact(17 * 32)) {
        assert_eq!(got, program.run(&SimOptions::default(), frame).0);
    }
    let head = std::fs::read(&out).expect("the run wrote it");
    assert!(String::from_utf8_lossy(&head[..128]).contains("(3, 1, 17, 32"));
}

#[test]
fn what_is_not_finite_is_counted_and_no_failure_of_a_run() {
    let (program, folder) = (small(""), Folder::new("finite"));
    let bundle = write(&folder, "graph.bin", program.bundle.bytes());
    let mut inputs = program.normal(0.5, 0);
    (inputs[0][3], inputs[0][40]) = (f16::NAN, f16::INFINITY);
    let file = |n: usize, shape| {
        npy(
            &folder,
            &format!("{n}.npy"),
            &header("<f2", false, shape),
            &halves(&inputs[n]),
        )
    };
    let (query, key) = (file(0, "(1, 17, 32)"), file(1, "(1, 33, 32)"));
    let (value, out) = (file(2, "(1, 33, 32)"), folder.file("o.npy"));
    let ran = run(&bundle, [&query, &key, &value], &out, &["--json"]);
    assert_eq!(
        ran.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    let report: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("one object");
    assert_eq!(report["non_finite"]["query"], 2);
    assert_eq!(report["non_finite"]["key"], 0);
    assert!(
        report["non_finite"]["attention"].as_u64() >= Some(16),
        "{report:#}"
    );
}

#[test]
fn files_that_are_no_such_arrays_are_refused_with_the_way_out() {
    let (program, folder) = (small(""), Folder::new("npy"));
    let bundle = write(&folder, "graph.bin", program.bundle.bytes());
    let (good, out) = ("(1, 33, 2, 16)", folder.file("o.npy"));
    let data = vec![0; 2 * 33 * 32];
    let key = npy(&folder, "k.npy", &header("<f2", false, good), &data);
    let query = |name: &str, descr: &str, fortran, shape: &str, bytes: usize| {
        npy(
            &folder,
            name,
            &header(descr, fortran, shape),
            &vec![0; bytes],
        )
    };
    for (file, complaint) in [
        (
            query("fortran", "<f2", true, "(1, 17, 2, 16)", 1088),
            "numpy.ascontiguousarray(array)",
        ),
        (
            query("big", ">f2", false, "(1, 17, 2, 16)", 1088),
            "big-endian",
        ),
        (
            query("int", "<i2", false, "(1, 17, 2, 16)", 1088),
            "array.astype(numpy.float16)",
        ),
        (query("rank", "<f2", false, "(544,)", 1088), "has 1 axes"),
        (
            query("shape", "<f2", false, "(1, 17, 2, 8)", 544),
            "expected [1, 17, 2, 16]",
        ),
        (
            query("none", "<f2", false, "(0, 1, 17, 2, 16)", 0),
            "no frames",
        ),
        (
            query("short", "<f2", false, "(1, 17, 2, 16)", 1087),
            "truncated",
        ),
        (write(&folder, "empty", b""), "is empty"),
        (write(&folder, "text", b"query\n"), "is no .npy file"),
        (
            write(&folder, "head", b"\x93NUMPY\x01\x00\xff\xff{"),
            "is no .npy file",
        ),
        (folder.file("missing"), "cannot be read"),
    ] {
        let ran = run(&bundle, [&file, &key, &key], &out, &[]);
        let told = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(2), "{}: {told}", file.display());
        assert!(told.contains(complaint), "{}: {told}", file.display());
        assert!(ran.stdout.is_empty() && !out.exists(), "{}", file.display());
    }
}

/// The keys that whoever reads the object may rely on.
const KEYS: [&str; 23] = [
    "device",
    "target",
    "tiles",
    "op",
    "batch_size",
    "query_sequence_length",
    "sequence_length",
    "hidden_size",
    "heads",
    "head_dimension",
    "tasks",
    "query_block_rows",
    "key_block_rows",
    "exchange_phases",
    "cycles",
    "host_rendezvous",
    "input_bytes",
    "output_bytes",
    "max_abs_error",
    "rmse",
    "max_abs_error_limit",
    "rmse_limit",
    "passed",
];

#[test]
fn the_built_in_graph_passes() {
    let ran = tilekiln(&["verify", "--device", "sim", "--json"]);
    assert_eq!(
        ran.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    let report: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("one object");
    for key in KEYS {
        assert!(!report[key].is_null(), "no {key} in {report:#}");
    }
    assert_eq!(report["passed"], true, "{report:#}");
    let stages = report["stage_seconds"].as_object().expect("an object");
    assert!(
        stages.values().all(|seconds| seconds.is_f64()),
        "{report:#}"
    );
    assert!(report["max_abs_error"].as_f64() <= report["max_abs_error_limit"].as_f64());
    let bundle = tilekiln::embedded().expect("it is whole");
    assert_eq!(report["host_rendezvous"], bundle.acknowledgements());
    let figures = ["cycles", "max_abs_error", "rmse"].map(|key| format!("{key} {}", report[key]));
    #[expect(
        clippy::print_stdout,
        reason = "figures for whoever reads the test's output"
    )]
    {
        println!("{}", figures.join(", "));
    }
}

#[test]
fn a_result_beyond_its_limits_fails() {
    let folder = Folder::new("limits");
    let program = small("[verify]\nmax_abs_error = 1e-9\nrmse = 1e-9");
    let bundle = write(&folder, "graph.bin", program.bundle.bytes());
    let ran = tilekiln(&[
        "verify",
        "--device",
        "sim",
        "--bundle",
        bundle.to_str().expect("our own"),
    ]);
    let told = String::from_utf8_lossy(&ran.stdout);
    assert_eq!(ran.status.code(), Some(1), "{told}");
    assert!(
        told.starts_with("device=sim\n") && told.contains("complaint"),
        "{told}"
    );
    assert!(told.lines().any(|line| line == "failed"), "{told}");
}

#[test]
fn a_stop_tells_the_tile_and_the_source_line() {
    let folder = Folder::new("stop");
    let program = small("");
    let mut bytes = program.bundle.bytes().to_vec();
    let tile = tilekiln_chip::PhysTile::new(0).expect("there is a tile 0");
    let image = program.bundle.tile(tile);
    let mut lines = program.bundle.lines(image.class());
    let line = lines
        .find(|line| line.symbol == "softmax_worker")
        .expect("a task takes a softmax");
    let segments = image.segments();
    let code = segments
        .filter(|segment| segment.address <= line.start)
        .last()
        .expect("its code");
    let at = code.bundle_offset + (line.start.0 - code.address.0) as usize;
    bytes[at..at + 4].copy_from_slice(&0u32.to_le_bytes());
    digest::reseal(&mut bytes);
    let bundle = write(&folder, "graph.bin", &bytes);
    let ran = tilekiln(&[
        "verify",
        "--device",
        "sim",
        "--bundle",
        bundle.to_str().expect("our own"),
    ]);
    let told = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(3), "{told}");
    assert!(
        told.contains("physical tile 0") && told.contains("INVALID_INSTR"),
        "{told}"
    );
    assert!(told.contains("softmax"), "{told}");
}

#[test]
fn help_names_every_command() {
    let ran = tilekiln(&["--help"]);
    let told = String::from_utf8_lossy(&ran.stdout);
    assert_eq!(ran.status.code(), Some(0));
    for command in ["run", "verify", "inspect", "self-test"] {
        assert!(told.contains(command), "{told}");
    }
    assert_eq!(
        tilekiln(&["run"]).status.code(),
        Some(2),
        "a run needs inputs"
    );
    assert_eq!(
        tilekiln(&["verify", "--fill-seed", "x"]).status.code(),
        Some(2)
    );
}

#[test]
fn an_interrupt_ends_a_run_and_leaves_no_partial_output() {
    let folder = Folder::new("interrupt");
    let bundle = tilekiln::embedded().expect("it is whole");
    let mut arguments = vec![
        "run".to_owned(),
        "--log=debug".to_owned(),
        "--device=sim".to_owned(),
    ];
    for tensor in bundle.tensors() {
        let path = folder.file(&format!("{}.npy", tensor.name));
        let output = tensor.kind == tilekiln_bundle::TensorKind::Output;
        if !output {
            let shape = tensor.shape.map(u64::from);
            folder.array(&format!("{}.npy", tensor.name), "<f2", 2, &shape);
        }
        let option = if output { "--output" } else { "--input" };
        arguments.extend([
            option.to_owned(),
            format!("{}={}", tensor.name, path.display()),
        ]);
    }
    let files = folder.files();
    let mut child = Command::new(env!("CARGO_BIN_EXE_tilekiln"))
        .args(&arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut log = BufReader::new(child.stderr.take().expect("it is piped"));
    let mut line = String::new();
    while !line.contains("invoking host exchange call") {
        line.clear();
        assert_ne!(
            log.read_line(&mut line).expect("text"),
            0,
            "it ended before the call"
        );
    }
    let kill = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(kill.expect("there is kill").success());
    let mut rest = String::new();
    log.read_to_string(&mut rest).expect("text");
    let status = child.wait().expect("it ends");
    assert_eq!(status.code(), Some(130), "{rest}");
    assert!(rest.contains("interrupted"), "{rest}");
    assert_eq!(folder.files(), files, "nothing is left of the output");
}
