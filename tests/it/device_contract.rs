//! Holds a device to the text of the trait: registers, buffers, time.
//!
//! The checks take any device with a loaded program, so that they say the same of every
//! implementation.

use std::sync::OnceLock;
use std::time::Duration;

use tilekiln::card::virtual_card::VirtualCard;
use tilekiln::card::{self, BufferIndex, Device, DeviceError, RegOffset, SimOptions, Wanted};
use tilekiln_bundle::format::BUFFER_BYTES_MAX;
use tilekiln_chip::registers::{
    EXCHANGE_WINDOW, EXCHANGE_WINDOW_HEXOPT, MARK_GS1, MARK_GS2, WINDOW_BYTES,
};

use crate::bake::{self, Program};

const WINDOW: RegOffset = RegOffset::new(EXCHANGE_WINDOW);
const FIRST: BufferIndex = BufferIndex(0);
const SECOND: BufferIndex = BufferIndex(1);

fn program() -> &'static Program {
    static PROGRAM: OnceLock<Program> = OnceLock::new();
    PROGRAM.get_or_init(|| Program::new(&bake::file("one_tile.toml")))
}

/// A device with a program loaded and nothing done to it.
fn device() -> Box<dyn Device> {
    let opened = card::open(&Wanted::Virtual, program().bundle, &SimOptions::default());
    opened.unwrap_or_else(|error| panic!("{error}"))
}

/// Attaches as a client must: the window first.
fn attach(device: &mut dyn Device, index: BufferIndex, bytes: u32) -> Result<(), DeviceError> {
    device.write32(WINDOW, EXCHANGE_WINDOW_HEXOPT);
    device.attach(index, bytes)
}

#[test]
fn a_device_says_its_name() {
    assert_eq!(device().name(), "sim");
}

#[test]
fn a_buffer_is_attached_once_until_it_is_detached() {
    let mut device = device();
    attach(&mut *device, FIRST, 0x1000).unwrap();
    let error = attach(&mut *device, FIRST, 0x1000).unwrap_err();
    assert!(
        matches!(error, DeviceError::BufferTaken { index: FIRST }),
        "{error}"
    );
    device.detach(FIRST).unwrap();
    attach(&mut *device, FIRST, 0x2000).unwrap();
}

#[test]
fn every_attach_needs_the_window_pointed_at_the_page_table() {
    let mut device = device();
    let error = device.attach(FIRST, 0x1000).unwrap_err();
    assert!(
        matches!(error, DeviceError::Window { found: 0, .. }),
        "{error}"
    );
    device.write32(WINDOW, EXCHANGE_WINDOW_HEXOPT);
    device.attach(FIRST, 0x1000).unwrap();
    let error = device.attach(SECOND, 0x1000).unwrap_err();
    assert!(
        matches!(error, DeviceError::Window { index: SECOND, .. }),
        "{error}"
    );
    device.write32(WINDOW, EXCHANGE_WINDOW_HEXOPT ^ 4);
    let error = device.attach(SECOND, 0x1000).unwrap_err();
    assert!(matches!(error, DeviceError::Window { .. }), "{error}");
    attach(&mut *device, SECOND, 0x1000).unwrap();
}

#[test]
fn a_buffer_has_at_least_a_byte_and_at_most_what_can_be_addressed() {
    let mut device = device();
    for bytes in [0, BUFFER_BYTES_MAX + 1, u32::MAX] {
        let error = attach(&mut *device, FIRST, bytes).unwrap_err();
        assert!(matches!(error, DeviceError::BufferSize { .. }), "{error}");
    }
    attach(&mut *device, FIRST, 1).unwrap();
}

#[test]
fn a_new_buffer_is_zero_and_keeps_what_is_written() {
    let mut device = device();
    attach(&mut *device, FIRST, 0x1004).unwrap();
    let mut all = vec![0xff; 0x1004];
    device.read_buffer(FIRST, 0, &mut all).unwrap();
    assert!(all.iter().all(|&byte| byte == 0));
    device.write_buffer(FIRST, 0x1000, &[1, 2, 3, 4]).unwrap();
    let mut end = [0; 5];
    device.read_buffer(FIRST, 0xfff, &mut end).unwrap();
    assert_eq!(end, [0, 1, 2, 3, 4]);
    device.fill_buffer(FIRST, 7).unwrap();
    device.read_buffer(FIRST, 0, &mut all).unwrap();
    assert!(all.iter().all(|&byte| byte == 7));
    device.detach(FIRST).unwrap();
    attach(&mut *device, FIRST, 0x1004).unwrap();
    device.read_buffer(FIRST, 0, &mut all).unwrap();
    assert!(
        all.iter().all(|&byte| byte == 0),
        "a buffer attached again is another one"
    );
}

#[test]
fn nothing_reaches_beyond_a_buffer() {
    let mut device = device();
    attach(&mut *device, FIRST, 16).unwrap();
    attach(&mut *device, SECOND, 16).unwrap();
    for (at, length) in [(16, 1), (13, 4), (u32::MAX, 1), (0, 17)] {
        let mut bytes = vec![0; length];
        let error = device.write_buffer(FIRST, at, &bytes).unwrap_err();
        assert!(
            matches!(error, DeviceError::OutsideBuffer { .. }),
            "{error}"
        );
        let error = device.read_buffer(FIRST, at, &mut bytes).unwrap_err();
        assert!(
            matches!(error, DeviceError::OutsideBuffer { .. }),
            "{error}"
        );
    }
    device.write_buffer(FIRST, 16, &[]).unwrap();
    device.fill_buffer(FIRST, 1).unwrap();
    let mut other = [9; 16];
    device.read_buffer(SECOND, 0, &mut other).unwrap();
    assert_eq!(other, [0; 16]);
}

#[test]
fn what_is_not_attached_cannot_be_used() {
    let mut device = device();
    attach(&mut *device, FIRST, 16).unwrap();
    let refused = [
        device.write_buffer(SECOND, 0, &[0]),
        device.read_buffer(SECOND, 0, &mut [0]),
        device.fill_buffer(SECOND, 0),
        device.detach(SECOND),
    ];
    for result in refused {
        let error = result.unwrap_err();
        assert!(
            matches!(error, DeviceError::NoBuffer { index: SECOND }),
            "{error}"
        );
    }
    device.detach_all().unwrap();
    assert!(matches!(
        device.detach(FIRST),
        Err(DeviceError::NoBuffer { .. })
    ));
    device.detach_all().unwrap();
}

#[test]
#[should_panic(expected = "a register lies on a multiple of four")]
fn a_register_lies_on_a_multiple_of_four() {
    let _ = RegOffset::new(MARK_GS2 + 2);
}

#[test]
#[should_panic(expected = "a register lies in the config window")]
fn a_register_lies_in_the_window() {
    let _ = RegOffset::new(WINDOW_BYTES);
}

#[test]
fn an_unknown_register_can_be_read() {
    let mut device = device();
    for at in [0, 4, 0x44, WINDOW_BYTES - 4] {
        let first = device.read32(RegOffset::new(at));
        assert_eq!(device.read32(RegOffset::new(at)), first, "register {at:#x}");
    }
    assert_eq!(device.faults(), Vec::<String>::new());
}

#[test]
fn a_write_has_its_effect_once_it_is_read_back() {
    let mut device = device();
    device.write32(WINDOW, EXCHANGE_WINDOW_HEXOPT);
    assert_eq!(device.read32(WINDOW), EXCHANGE_WINDOW_HEXOPT);
    let before = device.simulated().unwrap_or_default().instructions;
    // The loader's last barrier waits for this mark, and with it the program begins.
    let (gs1, gs2) = (RegOffset::new(MARK_GS1), RegOffset::new(MARK_GS2));
    for mark in [gs1, gs2] {
        device.write32(mark, 1);
        assert!(device.read32(mark) & 0xffff <= 1);
    }
    assert!(device.simulated().unwrap_or_default().instructions > before);
    assert_eq!(device.faults(), Vec::<String>::new());
}

#[test]
fn a_mark_that_nobody_has_taken_must_not_be_overwritten() {
    let mut device = device();
    let gs1 = RegOffset::new(MARK_GS1);
    device.write32(gs1, 1);
    device.write32(gs1, 3);
    device.write32(gs1, 3);
    assert!(
        !device.faults().is_empty(),
        "a card would count this mark twice"
    );
}

#[test]
fn a_pause_passes_on_the_cards_clock_alone() {
    let mut device = device();
    let before = device.now();
    let started = std::time::Instant::now();
    device.pause(Duration::from_secs(3600));
    let passed = device.now() - before;
    assert!(passed >= Duration::from_secs(3599), "{passed:?}");
    assert!(started.elapsed() < Duration::from_secs(3600));
    let before = device.now();
    device.read32(RegOffset::new(MARK_GS2));
    assert!(device.now() >= before, "a clock goes forward");
}

#[test]
fn a_device_that_did_nothing_has_nothing_to_tell() {
    let device = device();
    assert_eq!(device.stops(), []);
    assert_eq!(device.faults(), Vec::<String>::new());
    assert_eq!(device.simulated().map(|facts| facts.instructions), Some(0));
    assert_eq!(device.gauge().map(|gauge| gauge.cycles()), Some(0));
}

#[test]
fn a_cancelled_device_comes_to_rest_and_the_driver_can_tell() {
    let program = program();
    let card = VirtualCard::load(program.bundle, &SimOptions::default()).unwrap();
    card.gauge().expect("a simulator has one").cancel();
    let inputs = program.normal(0.5, 0);
    let ended = bake::session(program.bundle, Box::new(card), &[&inputs]);
    assert!(ended.is_err(), "nothing moves any more");
}
