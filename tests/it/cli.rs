//! The program as a user meets it: what it prints, what it complains of, and its exit codes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use expect_test::{Expect, expect};

/// A folder that goes when the test ends.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("tilekiln-cli-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder for temporary files");
        Self(path)
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// A `.npy` file of zeros.
    pub fn array(&self, name: &str, descr: &str, element_bytes: usize, shape: &[u64]) -> PathBuf {
        let axes: Vec<_> = shape.iter().map(ToString::to_string).collect();
        let axes = axes.join(", ");
        let mut header =
            format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({axes},), }}");
        while !(header.len() + 11).is_multiple_of(64) {
            header.push(' ');
        }
        header.push('\n');
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.bytes());
        let elements: u64 = shape.iter().product();
        bytes.resize(bytes.len() + elements as usize * element_bytes, 0);
        let path = self.file(name);
        std::fs::write(&path, bytes).expect("a temporary file");
        path
    }

    pub fn files(&self) -> usize {
        std::fs::read_dir(&self.0).expect("our folder").count()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs the program to its end.
pub fn tilekiln(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tilekiln"))
        .args(arguments)
        .output()
        .expect("the program starts")
}

/// Runs a command line and compares exit code and first line of complaint.
#[track_caller]
fn refused(arguments: &[&str], folder: Option<&Path>, code: i32, want: Expect) {
    let output = tilekiln(arguments);
    let mut complaint = String::from_utf8_lossy(&output.stderr)
        .lines()
        .next()
        .unwrap_or_default()
        .to_owned();
    if let Some(folder) = folder {
        complaint = complaint.replace(&folder.display().to_string(), "FOLDER");
    }
    want.assert_eq(&complaint);
    assert_eq!(output.status.code(), Some(code), "{complaint}");
    assert!(output.stdout.is_empty(), "a refusal prints no result");
}

/// `run` with these files for the three inputs.
#[track_caller]
fn run_refused(folder: &Folder, files: [&Path; 3], output: &Path, want: Expect) {
    let inputs: Vec<String> = ["query", "key", "value"]
        .iter()
        .zip(files)
        .map(|(name, path)| format!("{name}={}", path.display()))
        .collect();
    let output = format!("attention={}", output.display());
    let mut arguments = vec!["run", "--output", &output];
    for input in &inputs {
        arguments.extend(["--input", input.as_str()]);
    }
    refused(&arguments, Some(&folder.0), 2, want);
}

const SHAPE: [u64; 4] = [4, 729, 16, 72];

#[test]
fn an_unknown_command_is_a_matter_of_usage() {
    refused(
        &["frob"],
        None,
        2,
        expect!["error: unrecognized subcommand 'frob'"],
    );
}

#[test]
fn an_input_that_does_not_exist_is_told_which_do() {
    refused(
        &[
            "run",
            "--input",
            "quary=q.npy",
            "--output",
            "attention=o.npy",
        ],
        None,
        2,
        expect![[r#"error: this graph has no input "quary"; it has query, key, value"#]],
    );
}

#[test]
fn an_input_without_a_file_is_told_how_to_give_one() {
    refused(
        &[
            "run",
            "--input",
            "query=q.npy",
            "--output",
            "attention=o.npy",
        ],
        None,
        2,
        expect![[r#"error: input "key" was given no file: add `--input key=FILE`"#]],
    );
}

#[test]
fn more_threads_than_any_machine_has_are_a_matter_of_usage() {
    refused(
        &["verify", "--threads", "99999"],
        None,
        2,
        expect!["error: invalid value '99999' for '--threads <COUNT>': 99999 is not in 0..=1024"],
    );
}

#[test]
fn a_bundle_without_an_end_is_not_read() {
    refused(
        &["verify", "--bundle", "/dev/zero"],
        None,
        2,
        expect!["error: /dev/zero cannot be read: it is not a file"],
    );
}

#[test]
fn arrays_that_do_not_fit_are_refused_before_the_run() {
    let folder = Folder::new("arrays");
    let good = folder.array("good.npy", "<f2", 2, &SHAPE);
    let out = folder.file("o.npy");
    let wide = folder.array("wide.npy", "<f2", 2, &[4, 729, 1024]);
    run_refused(
        &folder,
        [&wide, &good, &good],
        &out,
        expect![[
            "error: FOLDER/wide.npy has shape [4, 729, 1024]; expected [4, 729, 16, 72] or [4, 729, 1152]"
        ]],
    );
    let double = folder.array("double.npy", "<f8", 8, &SHAPE);
    run_refused(
        &folder,
        [&good, &double, &good],
        &out,
        expect![[
            "error: FOLDER/double.npy holds '<f8'; expected f16 or f32: `array.astype(numpy.float16)` converts it"
        ]],
    );
    let frames = folder.array("frames.npy", "<f2", 2, &[2, 4, 729, 1152]);
    run_refused(
        &folder,
        [&good, &good, &frames],
        &out,
        expect![["error: FOLDER/frames.npy has 2 frames and FOLDER/good.npy has 1"]],
    );
    assert_eq!(folder.files(), 4, "nothing was written");
}

#[test]
fn an_output_that_cannot_be_written_is_found_before_the_run() {
    let folder = Folder::new("output");
    let good = folder.array("good.npy", "<f2", 2, &SHAPE);
    let nowhere = folder.file("nowhere/o.npy");
    run_refused(
        &folder,
        [&good, &good, &good],
        &nowhere,
        expect![[
            "error: FOLDER/nowhere/o.npy cannot be written: No such file or directory (os error 2)"
        ]],
    );
    run_refused(
        &folder,
        [&good, &good, &good],
        &folder.0,
        expect![["error: FOLDER is there and is not a file"]],
    );
}

#[test]
fn an_output_never_overwrites_an_input() {
    let folder = Folder::new("overwrite");
    let good = folder.array("good.npy", "<f2", 2, &SHAPE);
    run_refused(
        &folder,
        [&good, &good, &good],
        &good,
        expect![[
            r#"error: output "attention" would overwrite input "query", FOLDER/good.npy; name another file"#
        ]],
    );
}

#[test]
fn a_failure_is_an_object_too_where_objects_are_wanted() {
    let output = tilekiln(&["verify", "--json", "--device", "/dev/ipu99"]);
    assert_eq!(output.status.code(), Some(3));
    let object: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(object["exit_code"], 3);
    let error = object["error"].as_str().expect("a text");
    assert!(error.starts_with("there is no /dev/ipu99"), "{error}");
}

#[test]
fn devices_that_are_none_are_a_matter_of_the_device() {
    refused(
        &["verify", "--device", "card"],
        None,
        3,
        expect![[
            r#"error: "card" is no device: expected `sim`, `auto` or the path of a node like /dev/ipu0"#
        ]],
    );
    refused(
        &["verify", "--device", "/dev/ipu99"],
        None,
        3,
        expect![
            "error: there is no /dev/ipu99; a card shows as one when it is there and its kernel module loaded: No such file or directory (os error 2)"
        ],
    );
    refused(
        &["verify", "--device", "/proc/version"],
        None,
        3,
        expect!["error: /proc/version is not a character device"],
    );
    refused(
        &["verify", "--device", "/dev/null"],
        None,
        3,
        expect![
            "error: /dev/null cannot be used: this version does not load a card yet; `--device sim` runs the same images on the virtual card"
        ],
    );
}

#[test]
fn a_damaged_bundle_is_refused_by_its_digest() {
    let folder = Folder::new("damaged");
    let mut bytes = tilekiln::embedded_bytes().to_vec();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    let path = folder.file("damaged.bin");
    std::fs::write(&path, bytes).unwrap();
    let output = tilekiln(&["verify", "--bundle", path.to_str().unwrap()]);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(
        complaint.contains("the digest of the whole bundle is"),
        "{complaint}"
    );
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn views_come_as_text_and_as_json() {
    for view in ["summary", "report", "manifest", "map", "sizes"] {
        let text = tilekiln(&["inspect", view]);
        assert_eq!(text.status.code(), Some(0), "{view}");
        assert!(!text.stdout.is_empty(), "{view} shows nothing");
        let json = tilekiln(&["inspect", view, "--json"]);
        let value: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
        assert!(value.is_object(), "{view}");
    }
    refused(
        &["inspect", "map", "--tile", "1472"],
        None,
        2,
        expect!["error: there is no physical tile 1472; the last is 1471"],
    );
}

#[test]
fn the_limits_of_the_graph_catch_every_fault() {
    let output = tilekiln(&["self-test", "--json"]);
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["passed"], true, "{value:#}");
    assert_eq!(value["caught"].as_object().unwrap().len(), 5);
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    use std::process::Stdio;
    let mut child = Command::new(env!("CARGO_BIN_EXE_tilekiln"))
        .args(["inspect", "report"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(
        output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
