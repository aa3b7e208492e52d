//! A virtual card that tells what it saw, also after its session is over.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use tilekiln::card::virtual_card::VirtualCard;
use tilekiln::card::{
    BufferIndex, Device, DeviceError, RegOffset, SimOptions, Simulated, StopReport,
};
use tilekiln_bundle::Bundle;
use tilekiln_chip::registers::MARK_GS2;

/// What was seen.
#[derive(Default)]
pub struct Seen {
    /// How far the tiles were, in cycles, after every mark of the application.
    pub cycles: Vec<u64>,
    /// Why tiles stopped, when the buffers were taken away at the end.
    pub stops: Vec<StopReport>,
}

/// The card.
pub struct Tap {
    card: VirtualCard,
    seen: Rc<RefCell<Seen>>,
}

impl Tap {
    /// A card with `bundle` loaded, and what it will have seen.
    pub fn load(
        bundle: &Bundle<'_>,
        options: &SimOptions,
    ) -> Result<(Self, Rc<RefCell<Seen>>), DeviceError> {
        let seen = Rc::new(RefCell::new(Seen::default()));
        let card = VirtualCard::load(bundle, options)?;
        Ok((
            Self {
                card,
                seen: seen.clone(),
            },
            seen,
        ))
    }
}

impl Device for Tap {
    fn name(&self) -> &str {
        self.card.name()
    }

    fn read32(&mut self, at: RegOffset) -> u32 {
        self.card.read32(at)
    }

    fn write32(&mut self, at: RegOffset, value: u32) {
        self.card.write32(at, value);
        if at == RegOffset::new(MARK_GS2) {
            let Simulated { cycles, .. } = self.card.simulated().unwrap_or_default();
            self.seen.borrow_mut().cycles.push(cycles);
        }
    }

    fn attach(&mut self, index: BufferIndex, bytes: u32) -> Result<(), DeviceError> {
        self.card.attach(index, bytes)
    }

    fn write_buffer(
        &mut self,
        index: BufferIndex,
        at: u32,
        bytes: &[u8],
    ) -> Result<(), DeviceError> {
        self.card.write_buffer(index, at, bytes)
    }

    fn read_buffer(
        &mut self,
        index: BufferIndex,
        at: u32,
        into: &mut [u8],
    ) -> Result<(), DeviceError> {
        self.card.read_buffer(index, at, into)
    }

    fn fill_buffer(&mut self, index: BufferIndex, byte: u8) -> Result<(), DeviceError> {
        self.card.fill_buffer(index, byte)
    }

    fn detach(&mut self, index: BufferIndex) -> Result<(), DeviceError> {
        self.card.detach(index)
    }

    fn detach_all(&mut self) -> Result<(), DeviceError> {
        self.seen.borrow_mut().stops = self.card.stops();
        self.card.detach_all()
    }

    fn pause(&mut self, time: Duration) {
        self.card.pause(time);
    }

    fn now(&self) -> Duration {
        self.card.now()
    }

    fn stops(&self) -> Vec<StopReport> {
        self.card.stops()
    }

    fn faults(&self) -> Vec<String> {
        self.card.faults()
    }

    fn simulated(&self) -> Option<Simulated> {
        self.card.simulated()
    }
}
