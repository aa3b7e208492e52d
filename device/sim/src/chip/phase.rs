//! A phase of the exchange: rows in, memories and registers out.

use tilekiln_chip::csr::number;
use tilekiln_chip::exchange::MUX_NEUTRAL;

use super::{Chip, State, fabric_stop};
use crate::exchange::{self, Participant};
use crate::stop::Stop;
use crate::tile::RowLog;

impl Chip {
    /// Resolves the rows that have ended and lets their tiles go on.
    pub(super) fn resolve_rows(&mut self) -> Result<(), Box<Stop>> {
        let logs = self.take_rows();
        let tiles = self.tiles.iter_mut().zip(&logs).zip(&self.muxes);
        let mut participants: Vec<Participant<'_>> = tiles
            .filter_map(|((tile, log), &mux)| {
                let (tile, memory, log) = (tile.id, &mut tile.memory, log.as_ref()?);
                Some(Participant {
                    tile,
                    log,
                    mux,
                    memory,
                })
            })
            .collect();
        if participants.is_empty() {
            return Ok(());
        }
        let resolved = exchange::resolve(&mut participants, false);
        drop(participants);
        let facts = resolved.map_err(|faults| self.fabric_fault(&faults, &logs))?;
        self.facts.phases += 1;
        self.facts.sent += facts.sent;
        self.facts.delivered += facts.delivered;
        self.facts.events += u64::from(facts.horizon);
        let took_part = self
            .tiles
            .iter_mut()
            .zip(&logs)
            .filter(|(_, log)| log.is_some());
        for ((tile, log), cursor) in took_part.zip(facts.cursors) {
            tile.set_csr(number::INCOMING_MUX, MUX_NEUTRAL);
            if let (Some(log), Some(cursor)) = (log, cursor) {
                tile.set_csr(
                    number::INCOMING_DELTA,
                    cursor.wrapping_sub(log.incoming_base),
                );
            }
        }
        Ok(())
    }

    /// The rows that have ended, by tile; a lone `delay` is none.
    fn take_rows(&mut self) -> Vec<Option<RowLog>> {
        let mut logs = vec![None; self.tiles.len()];
        let rows = self.tiles.iter_mut().zip(&mut self.states).zip(&mut logs);
        for ((tile, state), log) in rows.filter(|((_, state), _)| **state == State::Row) {
            *state = State::Runs;
            let row = tile.take_row();
            *log = (!row.sends.is_empty() || !row.controls.is_empty()).then_some(row);
        }
        logs
    }

    /// The stop of the tile that suffers from the first fault of a phase.
    fn fabric_fault(&mut self, faults: &[exchange::Fault], logs: &[Option<RowLog>]) -> Box<Stop> {
        let fault = &faults[0];
        let place = usize::from(fault.tile.index());
        self.tiles[place].set_receive_error(fault.receive_error() as u32);
        let (start, pc) = logs[place]
            .as_ref()
            .map_or((0, 0), |log| (log.start, log.code.start));
        let what = match faults.len() - 1 {
            0 => fault.to_string(),
            more => format!("{fault}; and {more} more in this phase"),
        };
        Box::new(fabric_stop(
            fault.tile,
            pc,
            start.saturating_add_signed(fault.event),
            what,
        ))
    }
}
