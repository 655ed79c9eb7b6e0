//! Every number that decides how evidence is weighed when blocks are put into places, with its meaning, unit and origin.

/// The numbers by which blocks are placed. Odds are natural logarithms.
#[derive(Clone, Copy, Debug)]
pub struct Weights {
    /// Least probability of a place that is written without being asked for. Chosen: 1 wrong in 10,000.
    pub certain: f64,
    /// Least probability of a place that is written when asked for. Chosen: 1 wrong in 50.
    pub likely: f64,
    /// Least probability at which a block is offered as a candidate and helps to place its neighbours. Chosen.
    pub candidate: f64,
    /// Log-odds that an entry of a table that fits its sectors leads to the right block. Chosen: exchanged entries are rare.
    pub entry_right: f64,
    /// Log-odds that an entry which differs from a block's sectors by one bit is the block's own. Rule of chance: 32 bits
    /// times the blocks of a region, against 24 bits of sectors.
    pub one_bit: f64,
    /// The same for two bits.
    pub two_bits: f64,
    /// Log-odds that a slot whose entry is damaged holds a block. Measured on damaged tables.
    pub damaged_entry: f64,
    /// Log-odds that a whole block before the table's end is in use when whole blocks fill all sectors up to there. Rule of
    /// the writer: it leaves no holes.
    pub live_tiled: f64,
    /// The same when other sectors up to there are damaged.
    pub live_inside: f64,
    /// The same for a block behind the table's end in a table that is damaged. Measured on stale tails.
    pub live_behind: f64,
    /// The same for a block behind it whose content is already placed. Chosen: stale copies are common.
    pub live_copy: f64,
    /// Most that one seam may say, either way. Chosen: a few thousand seams cannot show more.
    pub seam_clip: f64,
    /// The sum of the seams of a placed block at which its place is looked at again. Chosen.
    pub suspect: f64,
    /// The sum of seams by which entries behind a repeated one must fit better one slot before. Chosen: no healthy table has
    /// an entry twice.
    pub moved_along: f64,
    /// Seams between known neighbours below which seams of blocks are not believed. Chosen.
    pub least_seams: usize,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            certain: 0.9999,
            likely: 0.98,
            candidate: 0.6,
            entry_right: 6.0,
            one_bit: 14.0,
            two_bits: 6.0,
            damaged_entry: 3.0,
            live_tiled: 9.0,
            live_inside: 4.0,
            live_behind: -2.0,
            live_copy: -3.0,
            seam_clip: 9.0,
            suspect: 0.0,
            moved_along: 3.0,
            least_seams: 12,
        }
    }
}
