//! Barriers: zones, non-participation, and the marks by which the host holds a barrier back.
//! [exchange §9, host-driver §10]

use tilekiln_chip::exchange::zone;

/// When a mark is used up. [A-MARK]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Marks {
    /// Model A: an arrival decrements, and zero stalls.
    #[default]
    Arrival,
    /// Model B: a release takes one.
    Release,
}

/// What writing a mark did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Written {
    /// A waiting barrier was released.
    Released,
    /// Nobody waited; the mark was 0 and is kept.
    Kept,
    /// Nobody waited and the mark was not used up yet: a mark is lost.
    Overwritten,
}

/// What the host lets pass in one zone. [host-driver §20.1]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Proxy {
    model: Marks,
    mark: u16,
    stalled: bool,
}

impl Proxy {
    /// Nothing granted, nobody waiting.
    pub const fn new(model: Marks) -> Self {
        Self {
            model,
            mark: 0,
            stalled: false,
        }
    }

    /// The same with a barrier that already waits.
    pub const fn waiting(model: Marks) -> Self {
        Self {
            model,
            mark: 0,
            stalled: true,
        }
    }

    /// What the host reads.
    pub const fn mark(&self) -> u16 {
        self.mark
    }

    /// Whether a barrier waits for the host.
    pub const fn is_stalled(&self) -> bool {
        self.stalled
    }

    /// All tiles have arrived. Says whether they may go on at once.
    pub fn arrive(&mut self) -> bool {
        let granted = self.mark > 0;
        self.mark = self.mark.saturating_sub(1);
        self.stalled = match self.model {
            Marks::Arrival => self.mark == 0,
            Marks::Release => !granted,
        };
        !self.stalled
    }

    /// The host writes the mark.
    pub fn write(&mut self, mark: u16) -> Written {
        let lost = self.mark > 0 && mark > 0;
        self.mark = mark;
        if mark > 0 && self.stalled {
            self.stalled = false;
            if self.model == Marks::Release {
                self.mark -= 1;
            }
            return Written::Released;
        }
        if lost {
            Written::Overwritten
        } else {
            Written::Kept
        }
    }
}

/// How a tile stands to the next barrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// It waits in a zone, master or slave.
    Waits {
        /// The zone.
        zone: u32,
    },
    /// It has announced that it will not take part.
    Armed,
    /// It is somewhere else.
    Away,
}

/// What all tiles together amount to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Barrier {
    /// Somebody may still come.
    Open,
    /// Every tile waits in this zone or is armed.
    Complete {
        /// The zone, without the master's 8.
        zone: u32,
    },
    /// Tiles wait in two zones and nobody is left to come.
    Torn {
        /// One zone.
        first: u32,
        /// The other.
        second: u32,
    },
}

/// Zones z and z + 8 are one barrier. [exchange §9.2]
pub const fn shared(zone: u32) -> u32 {
    if zone >= zone::MASTER {
        zone - zone::MASTER
    } else {
        zone
    }
}

/// Whether the host holds barriers of this zone back.
pub const fn has_host(zone: u32) -> bool {
    zone == zone::GS1_HOST || zone == zone::GS2_HOST
}

/// Decides whether a barrier is complete.
pub fn barrier(standings: impl IntoIterator<Item = Standing>) -> Barrier {
    let mut found = None;
    let mut torn = None;
    for standing in standings {
        match standing {
            Standing::Away => return Barrier::Open,
            Standing::Armed => {}
            Standing::Waits { zone } => match found {
                None => found = Some(shared(zone)),
                Some(first) if first != shared(zone) => torn = Some((first, shared(zone))),
                Some(_) => {}
            },
        }
    }
    match (torn, found) {
        (Some((first, second)), _) => Barrier::Torn { first, second },
        (None, Some(zone)) => Barrier::Complete { zone },
        (None, None) => Barrier::Open,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(model: Marks, first: u16, arrivals: u32) -> (u32, Proxy) {
        let mut proxy = Proxy::new(model);
        proxy.write(first);
        let passed = (0..arrivals).take_while(|_| proxy.arrive()).count() as u32;
        (passed, proxy)
    }

    #[test]
    fn a_mark_lets_go_and_stalls_at_the_last_arrival_it_covers() {
        // "Write 23" before anybody waits: 22 pass, the 23rd arrival waits.
        let (passed, proxy) = passes(Marks::Arrival, 23, 100);
        assert_eq!((passed, proxy.mark(), proxy.is_stalled()), (22, 0, true));
        let (passed, proxy) = passes(Marks::Release, 23, 100);
        assert_eq!((passed, proxy.mark(), proxy.is_stalled()), (23, 0, true));
    }

    #[test]
    fn a_stalled_barrier_is_released_by_the_next_mark() {
        for (model, left) in [(Marks::Arrival, 1), (Marks::Release, 0)] {
            let mut proxy = Proxy::new(model);
            assert!(!proxy.arrive());
            assert_eq!(proxy.write(0), Written::Kept);
            assert!(proxy.is_stalled());
            assert_eq!(proxy.write(1), Written::Released);
            assert_eq!(proxy.mark(), left);
            assert!(!proxy.arrive());
            assert_eq!(proxy.mark(), 0);
        }
    }

    #[test]
    fn an_early_mark_stalls_at_the_first_arrival_in_model_a_and_passes_it_in_model_b() {
        let mut proxy = Proxy::new(Marks::Arrival);
        assert_eq!(proxy.write(1), Written::Kept);
        assert!(!proxy.arrive());
        let mut proxy = Proxy::new(Marks::Release);
        assert_eq!(proxy.write(1), Written::Kept);
        assert!(proxy.arrive());
        assert!(!proxy.arrive());
    }

    #[test]
    fn a_mark_written_over_an_unused_one_is_lost() {
        let mut proxy = Proxy::new(Marks::Arrival);
        proxy.write(2);
        assert_eq!(proxy.write(1), Written::Overwritten);
        assert_eq!(proxy.write(0), Written::Kept);
    }

    #[test]
    fn a_barrier_needs_every_tile_in_one_zone_or_armed() {
        let waits = |zone| Standing::Waits { zone };
        assert_eq!(
            barrier([waits(3), Standing::Armed]),
            Barrier::Complete { zone: 3 }
        );
        assert_eq!(
            barrier([waits(7), waits(15)]),
            Barrier::Complete { zone: 7 }
        );
        assert_eq!(barrier([waits(3), Standing::Away]), Barrier::Open);
        assert_eq!(barrier([Standing::Armed, Standing::Armed]), Barrier::Open);
        let torn = Barrier::Torn {
            first: 3,
            second: 7,
        };
        assert_eq!(barrier([waits(3), waits(7), Standing::Armed]), torn);
    }
}
