//! The simulated card behind the interface of a real one.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tilekiln_bundle::Bundle;
use tilekiln_bundle::format::{BUFFER_BYTES_MAX, COMMAND_PAGE_BYTES};
use tilekiln_chip::ByteAddr;
use tilekiln_chip::registers::{EXCHANGE_WINDOW, EXCHANGE_WINDOW_HEXOPT};
use tilekiln_sim::card as sim;
use tilekiln_sim::settings::Settings;

use super::{
    BufferIndex, Device, DeviceError, Gauge, Marks, Progress, RegOffset, SimOptions, Simulated,
    Startup, StopReport,
};

/// A card in software; it owns the buffers its tiles reach.
pub struct VirtualCard {
    card: sim::Card,
    buffers: Buffers,
    /// Written to the exchange window since the last attach.
    window: Option<u32>,
}

/// The attached buffers by index; tiles see them one behind the other, each from a page boundary.
/// [host-driver §20.4]
#[derive(Default)]
struct Buffers(BTreeMap<u32, Vec<u8>>);

impl VirtualCard {
    /// A card with the images of `bundle` loaded: its tiles stand where the loader's last barrier
    /// leaves them. [host-driver §12.5]
    ///
    /// # Errors
    ///
    /// [`DeviceError::Place`], which a bundle that was read cannot cause.
    pub fn load(bundle: &Bundle<'_>, options: &SimOptions) -> Result<Self, DeviceError> {
        let mut settings = Settings::default();
        if let Some(seed) = options.fill_seed {
            settings.fill_seed = seed;
        }
        let mut card = sim::Card::new(&sim::Options {
            settings,
            marks: match options.marks {
                Marks::Arrival => sim::Marks::Arrival,
                Marks::Release => sim::Marks::Release,
            },
            startup: match options.startup {
                Startup::Early => sim::Startup::Early,
                Startup::Late => sim::Startup::Late,
            },
            progress: match options.progress {
                Progress::Immediate => sim::Progress::Immediate,
                Progress::Delayed => sim::Progress::Delayed,
            },
            threads: options.threads,
            quota: options.quota.unwrap_or(sim::Options::default().quota),
        });
        tracing::info!(
            device = "sim",
            tiles = bundle.tiles().len(),
            "loading application"
        );
        let mut bytes = 0;
        for image in bundle.tiles() {
            let tile = image.tile;
            for segment in image.segments() {
                let address = segment.address;
                bytes += segment.bytes.len();
                card.place(tile, address, segment.bytes)
                    .map_err(|fault| DeviceError::Place {
                        tile,
                        address,
                        reason: fault.to_string(),
                    })?;
            }
        }
        tracing::info!(device = "sim", bytes, "application loaded");
        Ok(Self {
            card,
            buffers: Buffers::default(),
            window: None,
        })
    }
}

impl Buffers {
    fn get(&mut self, index: BufferIndex) -> Result<&mut Vec<u8>, DeviceError> {
        self.0
            .get_mut(&index.0)
            .ok_or(DeviceError::NoBuffer { index })
    }

    fn range(
        &mut self,
        index: BufferIndex,
        at: u32,
        length: usize,
    ) -> Result<&mut [u8], DeviceError> {
        let buffer = self.get(index)?;
        let bytes = buffer.len();
        (at as usize)
            .checked_add(length)
            .and_then(|end| buffer.get_mut(at as usize..end))
            .ok_or(DeviceError::OutsideBuffer {
                index,
                at,
                length,
                bytes,
            })
    }

    /// The buffer at a host offset, and the offset in it.
    fn find(&self, offset: u64) -> Option<(u32, u64)> {
        let mut start = 0;
        for (&index, bytes) in &self.0 {
            let end = start + (bytes.len() as u64).next_multiple_of(COMMAND_PAGE_BYTES.into());
            if (start..end).contains(&offset) {
                return Some((index, offset - start));
            }
            start = end;
        }
        None
    }
}

impl sim::HostMemory for Buffers {
    /// Reads zeros behind the end of a buffer, as far as its last page goes.
    fn read(&self, offset: u64, into: &mut [u8]) -> bool {
        let Some((index, at)) = self.find(offset) else {
            return false;
        };
        let Some(buffer) = self.0.get(&index) else {
            return false;
        };
        let page_end = buffer.len().next_multiple_of(COMMAND_PAGE_BYTES as usize);
        let at = at as usize;
        if at + into.len() > page_end {
            return false;
        }
        let there = buffer.len().saturating_sub(at).min(into.len());
        let (copied, zeroed) = into.split_at_mut(there);
        copied.copy_from_slice(&buffer[at..at + there]);
        zeroed.fill(0);
        true
    }

    fn write(&mut self, offset: u64, bytes: &[u8]) -> bool {
        let Some((index, at)) = self.find(offset) else {
            return false;
        };
        let place = self.0.get_mut(&index).and_then(|buffer| {
            let at = at as usize;
            buffer.get_mut(at..at + bytes.len())
        });
        place.map(|place| place.copy_from_slice(bytes)).is_some()
    }
}

impl Device for VirtualCard {
    fn name(&self) -> &str {
        "sim"
    }

    fn read32(&mut self, at: RegOffset) -> u32 {
        self.card.read32(at.bytes(), &mut self.buffers)
    }

    fn write32(&mut self, at: RegOffset, value: u32) {
        if at.bytes() == EXCHANGE_WINDOW {
            self.window = Some(value);
        }
        self.card.write32(at.bytes(), value, &mut self.buffers);
    }

    fn attach(&mut self, index: BufferIndex, bytes: u32) -> Result<(), DeviceError> {
        let found = self.window.take().unwrap_or_default();
        if found != EXCHANGE_WINDOW_HEXOPT {
            return Err(DeviceError::Window {
                index,
                found,
                want: EXCHANGE_WINDOW_HEXOPT,
            });
        }
        if self.buffers.0.contains_key(&index.0) {
            return Err(DeviceError::BufferTaken { index });
        }
        if bytes == 0 || bytes > BUFFER_BYTES_MAX {
            return Err(DeviceError::BufferSize {
                index,
                bytes,
                limit: BUFFER_BYTES_MAX.into(),
            });
        }
        self.buffers.0.insert(index.0, vec![0; bytes as usize]);
        Ok(())
    }

    fn write_buffer(
        &mut self,
        index: BufferIndex,
        at: u32,
        bytes: &[u8],
    ) -> Result<(), DeviceError> {
        self.buffers
            .range(index, at, bytes.len())?
            .copy_from_slice(bytes);
        Ok(())
    }

    fn read_buffer(
        &mut self,
        index: BufferIndex,
        at: u32,
        into: &mut [u8],
    ) -> Result<(), DeviceError> {
        into.copy_from_slice(self.buffers.range(index, at, into.len())?);
        Ok(())
    }

    fn fill_buffer(&mut self, index: BufferIndex, byte: u8) -> Result<(), DeviceError> {
        self.buffers.get(index)?.fill(byte);
        Ok(())
    }

    fn detach(&mut self, index: BufferIndex) -> Result<(), DeviceError> {
        self.buffers
            .0
            .remove(&index.0)
            .map(drop)
            .ok_or(DeviceError::NoBuffer { index })
    }

    fn detach_all(&mut self) -> Result<(), DeviceError> {
        self.buffers.0.clear();
        Ok(())
    }

    fn pause(&mut self, time: Duration) {
        self.card.pause(time);
    }

    fn now(&self) -> Duration {
        self.card.now()
    }

    fn stops(&self) -> Vec<StopReport> {
        let report = |stop: &tilekiln_sim::stop::Stop| StopReport {
            tile: stop.tile,
            pc: ByteAddr(stop.pc),
            text: stop.to_string(),
        };
        self.card.stops().iter().map(report).collect()
    }

    fn faults(&self) -> Vec<String> {
        self.card.faults().to_vec()
    }

    fn gauge(&self) -> Option<Arc<dyn Gauge>> {
        Some(Arc::new(SimGauge(self.card.gauge())))
    }

    fn simulated(&self) -> Option<Simulated> {
        Some(Simulated {
            cycles: self.card.cycles(),
            instructions: self.card.instructions(),
        })
    }
}

struct SimGauge(Arc<sim::Gauge>);

impl Gauge for SimGauge {
    fn cycles(&self) -> u64 {
        self.0.cycles.load(Ordering::Relaxed)
    }

    fn cancel(&self) {
        self.0.cancel.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use tilekiln_sim::card::HostMemory as _;

    use super::*;

    fn buffers() -> Buffers {
        Buffers(BTreeMap::from([(0, vec![1; 0x1000]), (1, vec![2; 0x1800])]))
    }

    #[test]
    fn tiles_see_the_second_buffer_behind_the_first() {
        let mut buffers = buffers();
        assert!(buffers.write(0x1004, &[7, 8]));
        assert_eq!(buffers.0[&1][4..6], [7, 8]);
        let mut into = [0; 4];
        assert!(buffers.read(0xffc, &mut into));
        assert_eq!(into, [1; 4]);
    }

    #[test]
    fn the_rest_of_the_last_page_reads_as_zeros_and_nothing_lies_behind() {
        let mut buffers = buffers();
        let mut into = [9; 4];
        assert!(buffers.read(0x27fe, &mut into));
        assert_eq!(into, [2, 2, 0, 0]);
        assert!(!buffers.read(0x2ffe, &mut into));
        assert!(!buffers.read(0x3000, &mut into));
        assert!(!buffers.write(0x27fe, &[0; 4]));
    }
}
