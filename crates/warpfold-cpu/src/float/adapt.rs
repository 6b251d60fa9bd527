//! When to move the window, and when to give it up for a while.

/// What to do with the next block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Add inside the window as it stands.
    Window,
    /// Choose the window anew from this block, then add.
    NewWindow,
    /// The exponents are spread too far: through the bins.
    Bins,
}

/// Watches how many values miss the window.
#[derive(Debug, Clone)]
pub(super) struct Adapt {
    way: Way,
    /// Blocks still to go through the bins before a window is tried again.
    pause: u32,
    /// The length of the next pause.
    next_pause: u32,
}

const FIRST_PAUSE: u32 = 4;
const LONGEST_PAUSE: u32 = 64;

impl Adapt {
    pub(super) fn new() -> Self {
        Adapt { way: Way::NewWindow, pause: 0, next_pause: FIRST_PAUSE }
    }

    /// Whether the next block takes the window as it stands.
    pub(super) fn keeps_window(&self) -> bool {
        self.way == Way::Window
    }

    /// The way of the next block.
    pub(super) fn way(&mut self) -> Way {
        if self.way == Way::Bins {
            if self.pause == 0 {
                self.way = Way::NewWindow;
            } else {
                self.pause -= 1;
            }
        }
        self.way
    }

    /// Learns how a block of `n` values went that took the window.
    pub(super) fn note(&mut self, misses: usize, n: usize) {
        // A miss goes to the register by itself: beyond these, the bins are the better way.
        if misses <= n / 32 {
            self.way = Way::Window;
            self.next_pause = FIRST_PAUSE;
        } else if self.way == Way::Window {
            self.way = Way::NewWindow;
        } else {
            self.way = Way::Bins;
            self.pause = self.next_pause;
            self.next_pause = (2 * self.next_pause).min(LONGEST_PAUSE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_window_is_tried_once_then_bins_for_a_while() {
        let mut adapt = Adapt::new();
        assert_eq!(adapt.way(), Way::NewWindow);
        adapt.note(0, 100);
        assert_eq!(adapt.way(), Way::Window);
        adapt.note(50, 100);
        assert_eq!(adapt.way(), Way::NewWindow);
        adapt.note(50, 100);
        for _ in 0..FIRST_PAUSE {
            assert_eq!(adapt.way(), Way::Bins);
        }
        assert_eq!(adapt.way(), Way::NewWindow);
    }
}
