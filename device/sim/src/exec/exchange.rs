//! Synchronisation and the timed instructions of exchange rows. [exchange §4, isa-core §8]
//!
//! Timed instructions advance the event clock, which is the tile clock while a row runs. What they
//! do to the fabric is logged, not resolved: that needs every tile's log. Only words for the host
//! leave at once.

use tilekiln_chip::csr::number;
use tilekiln_chip::exchange::zone;
use tilekiln_chip::memory::{FETCH_AHEAD, INTERLEAVED, exclusion_unit};
use tilekiln_chip::{ByteAddr, assumed, memory};
use tilekiln_isa::Instruction;
use tilekiln_isa::op::Op;

use super::edge;
use crate::cycles;
use crate::row::{Control, HostSend, Sent};
use crate::stop::Fault;
use crate::tile::supervisor::{Done, SupervisorFn, Wait};
use crate::tile::{State, Tile, is_host};

/// Bits of `$ANS_DCOUNT`. [isa-core §6.2 code]
const ARMED_MAX: u32 = (1 << 19) - 1;

/// Break-on-sync in `$DBG_ECSR`. [isa-core §6.2 inf]
const BREAK_ON_SYNC: u32 = 1 << 5;

/// Whether `op` belongs to the event clock.
pub(crate) fn is_timed(op: Op) -> bool {
    matches!(
        op,
        Op::DelayZ19
            | Op::DelaypicZ7Z1Z18
            | Op::DelayxpicZ12Z1Z13
            | Op::SendZ6Z18Z3
            | Op::SendoffZ12Z11Z3
            | Op::SendpicZ6Z2Z18
            | Op::SendpicpZ6Z18Z3Z1
    )
}

/// Whether `instruction` may stand between timed ones: what moves the base registers of a row
/// while it runs. [exchange §3.3 H]
pub(crate) fn is_filler(instruction: &Instruction) -> bool {
    match instruction.form.op {
        Op::SetziMZ20 => true,
        Op::PutCsrM => {
            let csr = instruction.values[0] as u16;
            csr == number::INCOMING_BASE || csr == number::OUTGOING_BASE
        }
        _ => false,
    }
}

/// The function of a form of this family.
pub(crate) fn supervisor(op: Op) -> Option<SupervisorFn> {
    let function: SupervisorFn = match op {
        Op::SyncZ4 => sync,
        Op::SansZ19 => sans,
        Op::DelayZ19 => |v, tile, pc| timed(tile, pc, v[0] + 1).map(|event| event.done()),
        Op::DelaypicZ7Z1Z18 => delaypic,
        Op::DelayxpicZ12Z1Z13 => delayxpic,
        Op::SendZ6Z18Z3 => send,
        Op::SendoffZ12Z11Z3 => sendoff,
        Op::SendpicZ6Z2Z18 => sendpic,
        Op::SendpicpZ6Z18Z3Z1 => sendpicp,
        _ => return None,
    };
    Some(function)
}

fn sync(v: &[u32; 5], tile: &mut Tile, _pc: u32) -> Result<Done, Fault> {
    let zone = v[0];
    let outstanding = tile.csr(number::ANS_DCOUNT);
    if tile.csr(number::DBG_ECSR) & BREAK_ON_SYNC != 0 {
        return Err(Fault::BreakOnSync { zone });
    }
    let wait = match zone {
        zone::RECEIVE => (tile.csr(number::INCOMING_DCOUNT) > 0).then_some(Wait::Receive),
        zone::NON_PARTICIPATION => (outstanding > 0).then_some(Wait::NonParticipation),
        zone::LOCAL => {
            let busy = tile
                .workers
                .iter()
                .any(|worker| worker.state != State::Inactive);
            busy.then_some(Wait::Local)
        }
        8..=11 => return Err(Fault::Zone { zone }),
        _ => Some(participate(tile, zone, outstanding)?),
    };
    if wait.is_none() {
        tile.reload_pointer();
    }
    Ok(Done {
        wait,
        ..Done::new(cycles::SYNC)
    })
}

/// A request for a barrier.
fn participate(tile: &Tile, zone: u32, outstanding: u32) -> Result<Wait, Fault> {
    let mux = tile.csr(number::INCOMING_MUX);
    if outstanding > 0 {
        return Err(Fault::SyncWhileArmed { zone, outstanding });
    }
    if zone != zone::INTERNAL && mux < tilekiln_chip::exchange::MUX_HOST {
        return Err(Fault::SyncWithInternalMux { zone, mux });
    }
    // One that has stopped counts: its results are missing, and nobody waits for it any more.
    if tile
        .workers
        .iter()
        .any(|worker| worker.state != State::Inactive)
    {
        edge(
            &tile.settings,
            "a barrier while a worker of this tile is not done",
        )?;
    }
    Ok(Wait::Barrier { zone })
}

/// Answers the next barriers without taking part. [A-SANS]
fn sans(v: &[u32; 5], tile: &mut Tile, _pc: u32) -> Result<Done, Fault> {
    let outstanding = tile.csr(number::ANS_DCOUNT);
    let more = v[0] + assumed::SANS_EXTRA;
    if outstanding + more > ARMED_MAX {
        return Err(Fault::ArmedOverflow { outstanding, more });
    }
    if outstanding == 0 {
        tile.armed_at = tile.now;
    }
    tile.set_csr(number::ANS_DCOUNT, outstanding + more);
    Ok(Done::new(cycles::ORDINARY))
}

/// A timed instruction on the event clock.
#[derive(Clone, Copy)]
struct At {
    /// Event of its start, if a row runs.
    event: Option<u32>,
    /// Events it takes.
    events: u32,
}

impl At {
    fn done(self) -> Done {
        Done::new(u64::from(self.events))
    }
}

/// Checks a timed instruction of `events` events and starts the row with it, if one is due.
fn timed(tile: &mut Tile, pc: u32, events: u32) -> Result<At, Fault> {
    if tile.active != 0 {
        return Err(Fault::TimedWithWorker {
            worker: tile.active.trailing_zeros(),
        });
    }
    if is_host(tile.csr(number::INCOMING_MUX)) {
        return Ok(At {
            event: None,
            events,
        });
    }
    Ok(At {
        event: tile.row_event(pc, events),
        events,
    })
}

/// Writes an incoming register at event `stamp` of the row.
fn control(tile: &mut Tile, pc: u32, stamp: Option<u32>, register: u16, field: u32) {
    let value = if register == number::INCOMING_DELTA {
        field * 4
    } else {
        field
    };
    tile.set_csr(register, value);
    if let (Some(stamp), Some(row)) = (stamp, tile.row.log()) {
        row.controls.push(Control {
            stamp,
            register,
            value,
            pc,
        });
    }
}

fn delaypic(v: &[u32; 5], tile: &mut Tile, pc: u32) -> Result<Done, Fault> {
    let at = timed(tile, pc, v[0] + 1)?;
    let stamp = at.event.map(|event| event + at.events);
    control(tile, pc, stamp, number::INCOMING_DELTA + v[1] as u16, v[2]);
    Ok(at.done())
}

fn delayxpic(v: &[u32; 5], tile: &mut Tile, pc: u32) -> Result<Done, Fault> {
    let at = timed(tile, pc, v[0] + 1)?;
    let stamp = at.event.map(|event| event + at.events);
    control(tile, pc, stamp, number::INCOMING_MUX + v[1] as u16, v[2]);
    Ok(at.done())
}

/// Bytes of an item under `ctl`.
const fn unit(ctl: u32) -> u32 {
    if ctl & 4 == 0 { 4 } else { 8 }
}

/// `send`: from an absolute item address.
fn send(v: &[u32; 5], tile: &mut Tile, pc: u32) -> Result<Done, Fault> {
    let ctl = v[2];
    stream(tile, pc, v[0] + 1, Some(v[1].wrapping_mul(unit(ctl))), ctl)
}

/// `sendoff`: on from the cursor, which first moves by the delta.
fn sendoff(v: &[u32; 5], tile: &mut Tile, pc: u32) -> Result<Done, Fault> {
    let (delta, ctl) = (v[1], v[2]);
    if delta != 0 {
        edge(&tile.settings, "sendoff with a delta")?;
    }
    let cursor = tile
        .csr(number::OUTGOING_DELTA)
        .wrapping_add(delta * unit(ctl));
    stream(tile, pc, v[0] + 1, Some(cursor), ctl)
}

/// `sendpic`: on from the cursor, and one control.
fn sendpic(v: &[u32; 5], tile: &mut Tile, pc: u32) -> Result<Done, Fault> {
    let ctl = tile.stream.ok_or(Fault::NoStream)?;
    let done = stream(tile, pc, v[0] + 1, None, ctl)?;
    let stamp = tile.row.event_of(tile.now).map(|event| event + 1);
    control(tile, pc, stamp, number::INCOMING_MUX + v[1] as u16, v[2]);
    Ok(done)
}

/// `sendpicp`: two controls, and items from an absolute address if a direction is driven.
fn sendpicp(v: &[u32; 5], tile: &mut Tile, pc: u32) -> Result<Done, Fault> {
    let (ctl, data) = (v[2], v[4]);
    let done = stream(tile, pc, v[0] + 1, Some(v[1].wrapping_mul(unit(ctl))), ctl)?;
    let stamp = tile.row.event_of(tile.now).map(|event| event + 1);
    let mux = number::INCOMING_MUX + (data >> 31) as u16;
    control(tile, pc, stamp, mux, data >> 18 & 0x1fff);
    control(
        tile,
        pc,
        stamp,
        number::INCOMING_DELTA + v[3] as u16,
        data & 0x3_ffff,
    );
    Ok(done)
}

/// Emits `items` from byte offset `from`, or from the cursor.
fn stream(
    tile: &mut Tile,
    pc: u32,
    items: u32,
    from: Option<u32>,
    ctl: u32,
) -> Result<Done, Fault> {
    let drives = ctl & 3 != 0;
    let offset = from.unwrap_or(tile.csr(number::OUTGOING_DELTA));
    let address = tile.csr(number::OUTGOING_BASE).wrapping_add(offset);
    let bytes = items * unit(ctl);
    if drives {
        check_source(pc, address, bytes, unit(ctl))?;
    }
    let host = is_host(tile.csr(number::INCOMING_MUX));
    if drives && !host && !tile.row.is_due() {
        return Err(Fault::Undefined("a send outside an exchange phase"));
    }
    let at = timed(tile, pc, items)?;
    if drives {
        tile.stream = Some(ctl);
        tile.set_csr(number::OUTGOING_DELTA, offset.wrapping_add(bytes));
        if let (Some(event), Some(row)) = (at.event, tile.row.log()) {
            row.sends.push(Sent {
                event,
                items,
                address,
                control: ctl as u8,
                pc,
            });
        } else {
            emit_to_host(tile, pc, address, bytes)?;
        }
    }
    Ok(at.done())
}

/// Whether the items exist, are aligned, and lie outside the elements the row is fetched from.
fn check_source(pc: u32, address: u32, bytes: u32, unit: u32) -> Result<(), Fault> {
    if !address.is_multiple_of(unit) {
        return Err(Fault::Misaligned {
            at: address,
            align: unit,
        });
    }
    if !memory::contains(ByteAddr(address), bytes) {
        return Err(Fault::OutsideMemory { at: address, bytes });
    }
    let ahead = (pc + 4 + FETCH_AHEAD).min(INTERLEAVED.0 - 4);
    let unit_of = |at| exclusion_unit(ByteAddr(at));
    let read = unit_of(address)..=unit_of(address + bytes - 1);
    let fetched = [pc, ahead]
        .into_iter()
        .find(|&at| read.contains(&unit_of(at)));
    match fetched {
        Some(pc) => Err(Fault::SendFetch { at: address, pc }),
        None => Ok(()),
    }
}

/// Host words leave as they are in memory now. [exchange §14]
fn emit_to_host(tile: &mut Tile, pc: u32, address: u32, bytes: u32) -> Result<(), Fault> {
    let words = (address..address + bytes)
        .step_by(4)
        .map(|at| tile.memory.load32(at));
    let words = words.collect::<Result<Vec<u32>, Fault>>()?;
    let mux = tile.csr(number::INCOMING_MUX);
    tile.host_words.push(HostSend {
        cycle: tile.now,
        words,
        mux,
        pc,
    });
    Ok(())
}
