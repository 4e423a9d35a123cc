//! The user's wish to stop, as something a waiting thread can poll for.
//!
//! Children live in process groups of their own, so Ctrl-C reaches only this process; whoever waits for a child passes
//! the wish on. Once means gently, twice means at once. Each level is a pipe whose write end is closed when the level
//! is reached: every waiter sees the hang-up, nobody has to drain it, and nobody wakes up before.

use std::io::{self, PipeReader, PipeWriter, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// How much the user wants it to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Go on.
    None,
    /// Children get SIGTERM and a grace time.
    Gentle,
    /// Children get SIGKILL.
    AtOnce,
}

/// A shared interrupt state. Clones share it.
#[derive(Debug, Clone)]
pub struct Interrupt(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    raised: AtomicU8,
    bells: [Bell; 2],
}

/// Rings by closing its write end.
#[derive(Debug)]
struct Bell {
    ear: PipeReader,
    hand: Mutex<Option<PipeWriter>>,
}

impl Bell {
    fn new() -> io::Result<Self> {
        let (ear, hand) = io::pipe()?;
        Ok(Self { ear, hand: Mutex::new(Some(hand)) })
    }
}

impl Interrupt {
    /// An interrupt that only [`Interrupt::raise`] raises.
    ///
    /// # Errors
    /// When the process has no file descriptors left.
    pub fn new() -> io::Result<Self> {
        let bells = [Bell::new()?, Bell::new()?];
        Ok(Self(Arc::new(Inner { raised: AtomicU8::new(0), bells })))
    }

    /// An interrupt nobody raises, for tests.
    ///
    /// # Panics
    /// When the process has no file descriptors left.
    #[must_use]
    pub fn none() -> Self {
        Self::new().expect("two pipes can be made")
    }

    /// An interrupt raised by SIGINT, SIGTERM and SIGHUP of this process. Call once, early.
    ///
    /// # Errors
    /// When a handler cannot be installed or the process has no file descriptors left.
    pub fn install() -> io::Result<Self> {
        let interrupt = Self::new()?;
        let (mut ear, hand) = UnixStream::pair()?;
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::low_level::pipe::register(signal, hand.try_clone()?)?;
        }
        let raised = interrupt.clone();
        // Sleeps in read until a signal comes; ends with the process.
        std::thread::Builder::new().name("signals".into()).stack_size(64 * 1024).spawn(
            move || {
                let mut byte = [0_u8; 1];
                while let Ok(1) = ear.read(&mut byte) {
                    raised.raise();
                }
            },
        )?;
        Ok(interrupt)
    }

    /// Raises by one level.
    pub fn raise(&self) {
        let before = self
            .0
            .raised
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| (n < 2).then_some(n + 1));
        if let Ok(n) = before {
            let bell = &self.0.bells[usize::from(n)];
            bell.hand.lock().unwrap_or_else(PoisonError::into_inner).take();
        }
    }

    /// The level reached.
    #[must_use]
    pub fn level(&self) -> Level {
        match self.0.raised.load(Ordering::SeqCst) {
            0 => Level::None,
            1 => Level::Gentle,
            _ => Level::AtOnce,
        }
    }

    /// The descriptor that hangs up when the level after `seen` is reached; none after the last.
    #[must_use]
    pub fn bell_after(&self, seen: Level) -> Option<BorrowedFd<'_>> {
        match seen {
            Level::None => Some(self.0.bells[0].ear.as_fd()),
            Level::Gentle => Some(self.0.bells[1].ear.as_fd()),
            Level::AtOnce => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_raise_goes_one_level_up_and_stays_at_the_last() {
        let interrupt = Interrupt::none();
        let levels: Vec<Level> = (0..4)
            .map(|_| {
                interrupt.raise();
                interrupt.level()
            })
            .collect();
        assert_eq!(levels, [Level::Gentle, Level::AtOnce, Level::AtOnce, Level::AtOnce]);
    }

    #[test]
    fn a_raised_level_hangs_up_its_own_bell_only() {
        let interrupt = Interrupt::none();
        interrupt.raise();
        let mut ear = &interrupt.0.bells[0].ear;
        assert_eq!(ear.read(&mut [0]).unwrap(), 0);
        assert!(interrupt.0.bells[1].hand.lock().unwrap().is_some());
    }
}
