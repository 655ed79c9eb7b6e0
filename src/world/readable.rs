//! Whether a block that was read can be used: compared, converted or resized.

use crate::save::View;

/// The most voxels that a block may declare if its size is stored nowhere else.
const MOST: u64 = 1 << 24;

/// Why a block of a save with blocks of `side` voxels cannot be used, in words; `None` if it can.
pub(crate) fn unreadable(view: &View<'_>, side: Option<u16>) -> Option<String> {
    let Some(block) = view.block.as_ref().filter(|_| view.is_readable()) else {
        let codes: Vec<&str> = view.damage.iter().map(|d| d.code.name()).collect();
        return Some(if codes.is_empty() { "it cannot be read".to_owned() } else { codes.join(" ") });
    };
    let odd = match side {
        Some(side) => block.size != [side; 3],
        None => block.volume() > MOST,
    };
    odd.then(|| "it has another size than the save says".to_owned())
}
