//! Ctrl-C: an orderly end if the device comes to rest soon, and an end in any case.

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::card::Gauge;
use crate::stream;

/// The exit code of an interrupted run.
pub const EXIT_CODE: u8 = 130;

/// How long an orderly end may take.
const GRACE: Duration = Duration::from_secs(2);

/// Whether the user gave up.
#[derive(Clone, Default)]
pub struct Interrupt(Arc<Shared>);

#[derive(Default)]
struct Shared {
    flag: AtomicBool,
    gauge: Mutex<Option<Arc<dyn Gauge>>>,
}

impl Interrupt {
    /// Listens for Ctrl-C and its relatives from now on.
    pub fn listen() -> Self {
        let interrupt = Self::default();
        let heard = interrupt.clone();
        let listening = ctrlc::set_handler(move || {
            heard.give_up();
            std::thread::sleep(GRACE);
            // The main thread is still busy: the simulator or the reference is at work.
            stream::remove_partial_files();
            let _ = writeln!(std::io::stderr(), "error: interrupted");
            std::process::exit(EXIT_CODE.into());
        });
        if let Err(error) = listening {
            tracing::warn!(%error, "interrupts are not heard");
        }
        interrupt
    }

    /// The flag that the driver looks at.
    pub fn flag(&self) -> &AtomicBool {
        &self.0.flag
    }

    /// Lets an interrupt stop the device too.
    pub fn watch(&self, gauge: Option<Arc<dyn Gauge>>) {
        *self.0.gauge.lock().unwrap_or_else(PoisonError::into_inner) = gauge;
    }

    fn give_up(&self) {
        self.0.flag.store(true, Ordering::Relaxed);
        if let Some(gauge) = &*self.0.gauge.lock().unwrap_or_else(PoisonError::into_inner) {
            gauge.cancel();
        }
    }
}
