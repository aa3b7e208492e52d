//! Progress on a terminal, and nothing elsewhere.

use std::sync::Arc;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::card::Gauge;
use crate::driver::News;

/// A line that shows what is going on.
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A line on the standard error, if that is a terminal.
    pub fn new() -> Self {
        let bar = ProgressBar::new_spinner();
        bar.enable_steady_tick(Duration::from_millis(100));
        Self { bar }
    }

    /// Says what is going on.
    pub fn stage(&self, what: &'static str) {
        let style = ProgressStyle::with_template("{spinner} {msg} {elapsed}");
        self.bar
            .set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        self.bar.set_message(what);
    }

    /// Says that a call of so many rendezvous is going on.
    pub fn call(&self, what: String, rendezvous: u32, gauge: Option<Arc<dyn Gauge>>) {
        let template = "{spinner} {msg} [{bar:24}] rendezvous {pos}/{len}{cycles} {elapsed}";
        let style = ProgressStyle::with_template(template)
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .with_key("cycles", move |_: &_, out: &mut dyn std::fmt::Write| {
                if let Some(gauge) = &gauge {
                    // A failure to show progress is no failure.
                    let _ = write!(out, ", cycle {}", gauge.cycles());
                }
            });
        self.bar.set_message(what);
        self.bar.set_length(rendezvous.into());
        self.bar.set_position(0);
        self.bar.set_style(style);
    }

    /// Takes news from the driver.
    pub fn news(&self, news: News) {
        self.bar.set_position(news.acknowledgements.into());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
