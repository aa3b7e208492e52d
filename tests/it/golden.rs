//! What the bake of the checked-in graph promises: `artifacts/manifest.toml`, stage by stage.

use std::path::Path;
use std::sync::OnceLock;

use tilekiln_bundle::Bundle;
use tilekiln_compiler::Baked;

use crate::bake;

fn read(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The checked-in graph, baked once for all tests.
fn baked() -> &'static Baked {
    static BAKED: OnceLock<Baked> = OnceLock::new();
    BAKED.get_or_init(|| bake::bake(&read("graph.toml")))
}

#[test]
fn the_manifest_is_the_one_that_is_checked_in() {
    let promised = read("artifacts/manifest.toml");
    let made = &baked().manifest;
    // Lines stand in the order of the stages, so the first that differs is the first that changed.
    let differs = promised
        .lines()
        .zip(made.lines())
        .find(|(promised, made)| promised != made);
    if let Some((promised, made)) = differs {
        let stage = made.split_once(" = ").map_or(made, |(stage, _)| stage);
        panic!(
            "stage {stage} is the first that changed\n  promised  {promised}\n  baked     {made}\n\
             `cargo xtask artifacts --bless` renews artifacts/manifest.toml"
        );
    }
    assert_eq!(&promised, made);
}

#[test]
fn baking_twice_gives_equal_bytes() {
    let again = bake::bake(&read("graph.toml"));
    assert!(again.bundle == baked().bundle, "the bundles differ");
    assert_eq!(again.manifest, baked().manifest);
    assert_eq!(again.report, baked().report);
    assert!(
        again.files == baked().files,
        "the files for a reader differ"
    );
}

#[test]
fn the_bundle_holds_the_manifest_and_the_digests_in_it() {
    let bundle = Bundle::parse(&baked().bundle).expect("the bake wrote it");
    let whole = baked().manifest.strip_prefix(bundle.manifest());
    let own = whole.expect("all but the last line is inside").trim_end();
    let digest = tilekiln_bundle::Digest::of(bundle.bytes());
    assert_eq!(
        own,
        format!(
            "bundle = {{ bytes = {}, sha256 = \"{digest}\" }}",
            bundle.bytes().len()
        )
    );
    for stage in bundle.stages() {
        let line = format!(
            "{} = {{ bytes = {}, sha256 = \"{}\" }}",
            stage.name, stage.bytes, stage.digest
        );
        assert!(
            bundle.manifest().lines().any(|found| found == line),
            "{line}"
        );
    }
}

#[test]
fn the_report_has_lines_for_every_stage() {
    let report = &baked().report;
    for heading in [
        "graph ",
        "attention ",
        "blocking: ",
        "tasks: ",
        "memory: ",
        "exchange: ",
        "host: ",
        "kernels: ",
        "images: ",
        "bundle: ",
    ] {
        assert!(
            report.lines().any(|line| line.starts_with(heading)),
            "no line {heading}\n{report}"
        );
    }
    for stage in ["plan", "schedule", "programs", "images"] {
        let line = baked()
            .manifest
            .lines()
            .find(|line| line.starts_with(&format!("{stage} = ")));
        let digest = line
            .and_then(|line| line.split('"').nth(1))
            .expect("a digest");
        assert!(report.contains(digest), "stage {stage}\n{report}");
    }
    for kernel in bake::kernels() {
        assert!(
            report.contains(&kernel.key),
            "kernel {}\n{report}",
            kernel.name
        );
    }
}

#[test]
fn the_report_inside_the_bundle_does_not_know_the_cache() {
    let mut cold = bake::kernels().to_vec();
    cold.iter_mut().for_each(|kernel| kernel.hit = false);
    let baked_cold = tilekiln_compiler::compile(&read("graph.toml"), &cold);
    let baked_cold = baked_cold.unwrap_or_else(|error| panic!("{error}"));
    assert!(
        baked_cold.bundle == baked().bundle,
        "a cold cache gives another bundle"
    );
    assert_ne!(
        baked_cold.report,
        baked().report,
        "the report beside it tells hit from miss"
    );
}

#[test]
fn every_class_leaves_its_program_and_its_map() {
    let bundle = Bundle::parse(&baked().bundle).expect("the bake wrote it");
    for class in 0..bundle.classes().len() {
        for ending in ["s", "map"] {
            let name = format!("class-{class}.{ending}");
            let file = baked().files.iter().find(|(found, _)| *found == name);
            assert!(file.is_some_and(|(_, bytes)| !bytes.is_empty()), "{name}");
        }
    }
}

#[test]
fn no_path_of_this_machine_is_in_the_bundle() {
    let here = env!("CARGO_MANIFEST_DIR").as_bytes();
    let kernels = env!("TILEKILN_KERNELS").as_bytes();
    for path in [here, kernels] {
        let found = baked()
            .bundle
            .windows(path.len())
            .any(|window| window == path);
        assert!(!found, "{}", String::from_utf8_lossy(path));
    }
}
