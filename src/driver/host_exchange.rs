//! Starting the loaded program, calling it, ending it. [host-driver §14]
//!
//! The tiles stop at a barrier at the entry and at the exit of every host phase, and the host lets
//! them go on. Every call has two rendezvous a phase, whatever the start-up was: after the last
//! the tiles stand at the last exit or at the next entry, and in both the outputs are complete.

use tilekiln_bundle::Host;
use tilekiln_bundle::format::COMMAND_PAGE_BYTES;
use tilekiln_chip::registers::{self, state};

use super::debug::{self, Debugger};
use super::{DriverError, News, Watch, What, Zone, read_mark, wait, wait_mark, write_mark};
use crate::card::{BufferIndex, Device, RegOffset};

/// The buffer with the command word. [host-driver §9.2 HW]
pub const COMMAND_PAGE: BufferIndex = BufferIndex(0);

/// The buffer with the tensors; tiles see it at offset 0x1000. [host-driver §9.2 HW]
pub const DATA_BUFFER: BufferIndex = BufferIndex(1);

/// Another call follows. [host-driver §14.4]
const COMMAND_CALL: u32 = 0;

/// No call follows. [host-driver §14.4]
const COMMAND_LEAVE: u32 = 1;

/// Acknowledgements the end may take: entry and exit of the phase that reads the command, one more
/// if start-up was early, and one to spare. [host-driver §14.4]
const END_ACKNOWLEDGEMENTS: u32 = 4;

/// Launches the application and attaches what it shares with the host. [host-driver §14.1 HW]
///
/// # Errors
///
/// [`DriverError`]; buffers that were attached are detached again.
pub fn start(
    device: &mut dyn Device,
    host: &Host,
    watch: &mut Watch<'_>,
) -> Result<(), DriverError> {
    tracing::info!("starting host exchange session");
    point_window_at_page_table(device);
    write_mark(device, Zone::Gs1, 1)?;
    wait_mark(device, watch, Zone::Gs2, 0, What::Launch)?;
    device.detach_all()?;
    tracing::info!(
        bytes = host.buffer_bytes,
        pages = 2,
        "attaching host exchange buffers"
    );
    let attached = attach(device, host).and_then(|()| {
        write_mark(device, Zone::Gs2, 1)?;
        wait_mark(device, watch, Zone::Gs2, 1, What::FirstBarrier)
    });
    if attached.is_err() {
        // The first complaint is the one to report.
        let _ = device.detach_all();
    }
    attached?;
    tracing::info!("host exchange session started");
    Ok(())
}

/// Attaches in ascending order, the command page with exactly one page, so that both readings of
/// the index agree. [host-driver §9.2]
fn attach(device: &mut dyn Device, host: &Host) -> Result<(), DriverError> {
    for (index, bytes) in [
        (COMMAND_PAGE, COMMAND_PAGE_BYTES),
        (DATA_BUFFER, host.buffer_bytes),
    ] {
        point_window_at_page_table(device);
        device.attach(index, bytes)?;
    }
    Ok(())
}

/// Must precede every attach. [host-driver §9.2 HW]
fn point_window_at_page_table(device: &mut dyn Device) {
    let window = RegOffset::new(registers::EXCHANGE_WINDOW);
    device.write32(window, registers::EXCHANGE_WINDOW_HEXOPT);
}

/// Runs one call of `phases` host phases whose inputs are all in place; outputs are complete when
/// it returns. Gives the acknowledgements it took. [host-driver §14.4]
///
/// # Errors
///
/// [`DriverError::Mark`] when the tiles do not come back.
pub fn call(
    device: &mut dyn Device,
    host: &Host,
    phases: u32,
    watch: &mut Watch<'_>,
) -> Result<u32, DriverError> {
    let of = 2 * phases;
    command(device, host, COMMAND_CALL)?;
    tracing::debug!(
        command = COMMAND_CALL,
        phases = of,
        "invoking host exchange call"
    );
    for at in 0..of {
        let what = What::Rendezvous { at, of };
        wait_mark(device, watch, Zone::Gs2, at, what)?;
        write_mark(device, Zone::Gs2, 1)?;
        wait_mark(device, watch, Zone::Gs2, at + 1, what)?;
        (watch.news)(News {
            acknowledgements: at + 1,
            now: device.now(),
        });
        tracing::trace!(phase = at, "rendezvous over");
    }
    Ok(of)
}

fn command(device: &mut dyn Device, host: &Host, word: u32) -> Result<(), DriverError> {
    Ok(device.write_buffer(COMMAND_PAGE, host.command_offset, &word.to_le_bytes())?)
}

/// Lets the program end and checks that it did, then detaches. Gives the acknowledgements it
/// took. [host-driver §14.4, §14.5]
///
/// # Errors
///
/// [`DriverError::NoEnd`] when it goes on, [`DriverError::Completion`] when it ended badly.
pub fn finish(
    device: &mut dyn Device,
    host: &Host,
    watch: &mut Watch<'_>,
) -> Result<u32, DriverError> {
    command(device, host, COMMAND_LEAVE)?;
    let acknowledgements = until_ended(device, host, watch)?;
    let word = Debugger::new(device, host.completion_tile, watch.limits.debug)
        .read_word(host.completion_address)?;
    if word != 1 {
        return Err(DriverError::Completion { got: word });
    }
    device.detach(DATA_BUFFER)?;
    device.detach(COMMAND_PAGE)?;
    tracing::info!(acknowledgements, "program ended");
    Ok(acknowledgements)
}

/// Acknowledges until the completion tile has stopped.
fn until_ended(
    device: &mut dyn Device,
    host: &Host,
    watch: &mut Watch<'_>,
) -> Result<u32, DriverError> {
    let ended = |device: &mut dyn Device| {
        debug::context_status(device, host.completion_tile)
            .map(|status| status.supervisor() == state::EXCEPTED)
    };
    let limit = watch.limits.completion;
    let start = device.now();
    let mut acknowledgements = 0;
    while !ended(device)? && acknowledgements < END_ACKNOWLEDGEMENTS {
        write_mark(device, Zone::Gs2, 1)?;
        acknowledgements += 1;
        let over = wait(device, watch, limit, acknowledgements, |device| {
            Ok((ended(device)? || read_mark(device, Zone::Gs2)? == 0).then_some(()))
        })?;
        if over.is_none() {
            break;
        }
    }
    let over = wait(device, watch, limit, acknowledgements, |device| {
        Ok(ended(device)?.then_some(()))
    })?;
    over.ok_or(DriverError::NoEnd {
        acknowledgements,
        waited: device.now().saturating_sub(start),
    })?;
    Ok(acknowledgements)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::card::{Marks, Progress, Startup};
    use crate::driver::Limits;
    use crate::driver::fake::{Behaviour, FakeCard, host, watched};

    /// Every start-up with every reading of the mark and every pace.
    fn behaviours() -> impl Iterator<Item = Behaviour> {
        [Marks::Arrival, Marks::Release]
            .into_iter()
            .flat_map(|marks| {
                [Startup::Early, Startup::Late]
                    .into_iter()
                    .flat_map(move |startup| {
                        [Progress::Immediate, Progress::Delayed]
                            .into_iter()
                            .map(move |progress| Behaviour {
                                marks,
                                startup,
                                progress,
                            })
                    })
            })
    }

    #[test]
    fn calls_are_complete_under_every_reading_of_the_mark() {
        for behaviour in behaviours() {
            let mut card = FakeCard::new(behaviour, 2, 1);
            watched(|watch| {
                start(&mut card, &host(), watch).unwrap();
                for frame in 1..=3u8 {
                    card.write_buffer(DATA_BUFFER, 0, &[frame, frame + 1])
                        .unwrap();
                    let acknowledgements = call(&mut card, &host(), 3, watch).unwrap();
                    assert_eq!(acknowledgements, 6, "{behaviour:?}");
                    let mut sum = [0];
                    card.read_buffer(DATA_BUFFER, 2, &mut sum).unwrap();
                    assert_eq!(sum, [2 * frame + 1], "{behaviour:?}");
                }
                let acknowledgements = finish(&mut card, &host(), watch).unwrap();
                assert!((1..=4).contains(&acknowledgements), "{behaviour:?}");
            });
            assert!(card.ended(), "{behaviour:?}");
            assert_eq!(card.attached(), 0, "{behaviour:?}");
            assert_eq!(card.lost_marks(), 0, "{behaviour:?}");
        }
    }

    #[test]
    fn an_end_takes_two_acknowledgements_after_a_late_start_and_three_after_an_early_one() {
        for (startup, want) in [(Startup::Late, 2), (Startup::Early, 3)] {
            let progress = Progress::Immediate;
            let behaviour = Behaviour {
                marks: Marks::Arrival,
                startup,
                progress,
            };
            let mut card = FakeCard::new(behaviour, 1, 1);
            let acknowledgements = watched(|watch| {
                start(&mut card, &host(), watch).unwrap();
                call(&mut card, &host(), 2, watch).unwrap();
                finish(&mut card, &host(), watch).unwrap()
            });
            assert_eq!(acknowledgements, want, "{startup:?}");
        }
    }

    #[test]
    fn tiles_that_do_not_come_back_are_reported_with_the_rendezvous() {
        let mut card = FakeCard::new(Behaviour::default(), 2, 1);
        let error = watched(|watch| {
            start(&mut card, &host(), watch).unwrap();
            card.hang_after(4);
            call(&mut card, &host(), 3, watch).unwrap_err()
        });
        let DriverError::Mark {
            mark: 1,
            what,
            waited,
            ..
        } = error
        else {
            panic!("{error}")
        };
        assert_eq!(
            what.to_string(),
            "rendezvous 3 of 6 (the exit of host phase 1)"
        );
        assert!(waited >= Limits::default().mark);
    }

    #[test]
    fn a_card_that_fell_off_the_bus_is_not_taken_for_a_slow_one() {
        let mut card = FakeCard::new(Behaviour::default(), 1, 1);
        card.fall_off();
        let error = watched(|watch| start(&mut card, &host(), watch).unwrap_err());
        assert!(matches!(error, DriverError::Gone), "{error}");
    }

    #[test]
    fn a_wrong_completion_word_is_an_error() {
        let mut card = FakeCard::new(Behaviour::default(), 1, 1);
        card.complete_with(7);
        let error = watched(|watch| {
            start(&mut card, &host(), watch).unwrap();
            call(&mut card, &host(), 2, watch).unwrap();
            finish(&mut card, &host(), watch).unwrap_err()
        });
        assert_eq!(
            error.to_string(),
            "the completion word is 0x7; a program that ended well leaves 1"
        );
    }

    #[test]
    fn an_interrupt_ends_the_wait() {
        let mut card = FakeCard::new(Behaviour::default(), 1, 1);
        let interrupted = AtomicBool::new(true);
        let mut news = |_| {};
        let limits = Limits::default();
        let mut watch = Watch {
            limits,
            interrupted: &interrupted,
            news: &mut news,
        };
        card.hang_after(0);
        let error = start(&mut card, &host(), &mut watch).unwrap_err();
        assert!(matches!(error, DriverError::Interrupted), "{error}");
    }
}
