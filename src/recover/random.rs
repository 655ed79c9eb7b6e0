//! Numbers that look random, and are the same every time: a save is repaired in the same way on every machine.

/// The bits of each number.
const BITS: u32 = 53;

/// Numbers that look random.
pub(super) struct Random(u64);

impl Random {
    /// Begins with a state, which must not be 0.
    pub const fn from_state(state: u64) -> Self {
        Self(state)
    }

    pub const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Moves on to the next state.
    const fn step(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    const fn next(&mut self) -> u64 {
        self.step() >> 11
    }

    /// A number from 0 to 1.
    pub const fn share(&mut self) -> f64 {
        (self.step().wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1u64 << BITS) as f64
    }

    /// An index by weights.
    pub fn pick(&mut self, weights: impl Iterator<Item = f64> + Clone) -> Option<usize> {
        let mut left = self.share() * weights.clone().sum::<f64>();
        let mut last = None;
        for (i, weight) in weights.enumerate().filter(|(_, w)| *w > 0.0) {
            last = Some(i);
            left -= weight;
            if left < 0.0 {
                break;
            }
        }
        last
    }

    /// A number below `n`, or 0 if there is none.
    pub const fn below(&mut self, n: usize) -> usize {
        (self.next() % if n == 0 { 1 } else { n as u64 }) as usize
    }

    /// The gain that a change must have at least: what loses `n` is accepted with a probability of e^-`n`.
    pub fn least_gain(&mut self) -> f64 {
        (self.next() as f64 / (1u64 << BITS) as f64).ln()
    }

    /// A number from the Gumbel distribution. If one is added to each of several log-odds, the largest sum is a draw by these odds.
    pub fn gumbel(&mut self) -> f64 {
        -(-self.least_gain().min(-f64::EPSILON)).ln()
    }

    /// Whether a change is accepted, with a probability of e^`gain`.
    pub fn accepts(&mut self, gain: f64) -> bool {
        gain >= 0.0 || self.least_gain() < gain
    }
}
