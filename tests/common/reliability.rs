//! Whether stated probabilities hold: of the blocks that are put in a place with a probability, the share that is right.

use std::fmt;
use std::ops::AddAssign;

/// The least probability of each bin. What counts as certain and as likely is among them.
pub const BINS: [f64; 9] = [0.0, 0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.999, 0.9999];

/// Placements by their stated probability.
#[derive(Clone, Copy, Default, Debug)]
pub struct Reliability {
    /// For each of [`BINS`]: the placements, those of them that are wrong, and the sum of their probabilities.
    bins: [(u64, u64, f64); BINS.len()],
}

impl Reliability {
    /// Counts a placement.
    pub fn add(&mut self, probability: f64, right: bool) {
        let bin = BINS.iter().rposition(|least| probability >= *least).unwrap_or(0);
        let (count, wrong, sum) = &mut self.bins[bin];
        *count += 1;
        *wrong += u64::from(!right);
        *sum += probability;
    }

    /// The placements with at least a probability, and those of them that are wrong.
    pub fn from(&self, least: f64) -> (u64, u64) {
        let bins = BINS.iter().zip(&self.bins).filter(|(bin, _)| **bin >= least);
        bins.fold((0, 0), |(count, wrong), (_, bin)| (count + bin.0, wrong + bin.1))
    }
}

impl AddAssign for Reliability {
    fn add_assign(&mut self, other: Self) {
        for (bin, other) in self.bins.iter_mut().zip(other.bins) {
            *bin = (bin.0 + other.0, bin.1 + other.1, bin.2 + other.2);
        }
    }
}

/// One line a bin that is not empty: the bin, the mean stated probability, the placements, the wrong ones, the share
/// that is right and the least that it is at 95 %.
impl fmt::Display for Reliability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "    {:>8} {:>8} {:>9} {:>6} {:>9} {:>9}",
            "from", "stated", "placed", "wrong", "right", "at least"
        )?;
        for (least, (count, wrong, sum)) in BINS.iter().zip(&self.bins).filter(|(_, bin)| bin.0 > 0) {
            let share = |wrong: f64| 100.0 * (1.0 - wrong / *count as f64).max(0.0);
            let (stated, right, bound) = (sum / *count as f64, share(*wrong as f64), share(at_most(*wrong)));
            writeln!(f, "    {least:>8} {stated:>8.5} {count:>9} {wrong:>6} {right:>7.3} % {bound:>7.3} %")?;
        }
        Ok(())
    }
}

/// How many were to be expected at most, at 95 %, where so many rare events are counted (Poisson).
pub fn at_most(seen: u64) -> f64 {
    let chance = |mean: f64| {
        let (mut term, mut sum) = (-mean, 0.0);
        for n in 0..=seen {
            if n > 0 {
                term += mean.ln() - (n as f64).ln();
            }
            sum += term.exp();
        }
        sum
    };
    let (mut low, mut high) = (seen as f64, 2.0 * seen as f64 + 10.0);
    for _ in 0..60 {
        let middle = low.midpoint(high);
        if chance(middle) > 0.05 { low = middle } else { high = middle }
    }
    high
}
