//! Counts and lists in the sentences of a repair: the first entries, and how many more there are.

use crate::printable::grouped;
use crate::repair::decision::RegionPlan;

/// Entries that are listed for each file; repair.json of a repaired copy has all.
pub(super) const LISTED: usize = 8;

/// The line after a list of the first of `all` entries, if there are more; `what` says more about them.
pub(super) fn more(all: usize, what: &str) -> Option<String> {
    let rest = all.checked_sub(LISTED).filter(|rest| *rest > 0)?;
    Some(format!("  and {} more{what}; a repaired copy lists all of them in its repair.json.", grouped(rest as u64)))
}

/// `3 of 1,200`.
fn out_of(n: usize, all: usize) -> String {
    format!("{} of {}", grouped(n as u64), grouped(all as u64))
}

/// `3 of 1,200 rows written`; without any known one, that there is none.
pub(super) fn count_of(n: usize, all: usize, thing: &str, how: &str) -> String {
    match all {
        0 => format!("no {thing} is known"),
        1 => format!("{} {thing} {how}", out_of(n, all)),
        _ => format!("{} {thing}s {how}", out_of(n, all)),
    }
}

/// How many of the blocks of a region that is built anew are in place.
pub(super) fn in_place(region: &RegionPlan) -> String {
    match region.blocks.len() + region.missing.len() {
        0 => "no position of a block is known".to_owned(),
        all => count_of(region.blocks.len(), all, "block", "in place"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_listed_is_counted() {
        assert_eq!(more(LISTED, ""), None);
        assert_eq!(
            more(LISTED + 1, "").unwrap(),
            "  and 1 more; a repaired copy lists all of them in its repair.json."
        );
        let rows = more(LISTED + 1_200, " that are only likely").unwrap();
        assert_eq!(
            rows,
            "  and 1,200 more that are only likely; a repaired copy lists all of them in its repair.json."
        );
        assert_eq!(count_of(3, 1_200, "row", "written"), "3 of 1,200 rows written");
        assert_eq!(count_of(1, 1, "row", "written"), "1 of 1 row written");
        assert_eq!(count_of(0, 0, "row", "written"), "no row is known");
    }
}
