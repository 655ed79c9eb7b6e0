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

    const fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }

    /// A number below `n`, or 0 if there is none.
    pub const fn below(&mut self, n: usize) -> usize {
        (self.next() % if n == 0 { 1 } else { n as u64 }) as usize
    }

    /// The gain that a change must have at least: what loses `n` is accepted with a probability of e^-`n`.
    pub fn least_gain(&mut self) -> f64 {
        (self.next() as f64 / (1u64 << BITS) as f64).ln()
    }

    /// A number of the Gumbel distribution: of ways whose log-odds each get one, the best is a draw from all.
    pub fn gumbel(&mut self) -> f64 {
        -(-self.least_gain().min(-f64::EPSILON)).max(f64::MIN_POSITIVE).ln()
    }

    /// Whether a change is accepted, with a probability of e^`gain`.
    pub fn accepts(&mut self, gain: f64) -> bool {
        gain >= 0.0 || self.least_gain() < gain
    }
}
