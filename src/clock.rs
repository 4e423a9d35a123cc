//! The one place that reads clocks. Everything else is handed a [`Clock`], so that tests decide what time it is.

use std::sync::atomic::{AtomicU64, Ordering};

use nix::time::{ClockId, clock_gettime};

/// Tells the time.
pub trait Clock: Send + Sync {
    /// Now, UTC, RFC 3339 with milliseconds: `2026-11-30T18:49:00.123Z`.
    fn utc(&self) -> String;
    /// Nanoseconds on the monotonic clock of this boot.
    fn monotonic_ns(&self) -> u64;
}

/// The system's clocks.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn utc(&self) -> String {
        format!("{:.3}", jiff::Timestamp::now())
    }

    fn monotonic_ns(&self) -> u64 {
        let Ok(time) = clock_gettime(ClockId::CLOCK_MONOTONIC) else { return 0 };
        let seconds = u64::try_from(time.tv_sec()).unwrap_or(0);
        seconds * 1_000_000_000 + u64::try_from(time.tv_nsec()).unwrap_or(0)
    }
}

/// A clock for tests: starts at the given second of the epoch and goes on by one second with each reading of UTC.
#[derive(Debug)]
pub struct FakeClock(AtomicU64);

impl FakeClock {
    /// A clock that shows this many seconds since 1970 when first read.
    #[must_use]
    pub const fn at(seconds: u64) -> Self {
        Self(AtomicU64::new(seconds))
    }
}

impl Clock for FakeClock {
    fn utc(&self) -> String {
        let seconds = self.0.fetch_add(1, Ordering::Relaxed);
        let seconds = i64::try_from(seconds).unwrap_or(0);
        let timestamp =
            jiff::Timestamp::from_second(seconds).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        format!("{timestamp:.3}")
    }

    fn monotonic_ns(&self) -> u64 {
        self.0.load(Ordering::Relaxed) * 1_000_000_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fake_clock_goes_on_by_a_second_each_time() {
        let clock = FakeClock::at(1_000_000_000);
        assert_eq!(clock.utc(), "2001-09-09T01:46:40.000Z");
        assert_eq!(clock.utc(), "2001-09-09T01:46:41.000Z");
    }

    #[test]
    fn the_system_clock_goes_forward_and_prints_milliseconds() {
        let first = SystemClock.monotonic_ns();
        assert!(SystemClock.monotonic_ns() >= first && first > 0);
        let text = SystemClock.utc();
        assert_eq!((text.len(), &text[23..]), (24, "Z"));
    }
}
