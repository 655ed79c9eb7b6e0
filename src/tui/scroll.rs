//! The part of a list that is seen.

/// The first line of a list to show so that the cursor is seen: as before, if it still is.
#[must_use]
pub const fn follow(first: usize, cursor: usize, seen: usize, all: usize) -> usize {
    let first = if cursor < first {
        cursor
    } else if seen > 0 && cursor >= first.saturating_add(seen) {
        cursor + 1 - seen
    } else {
        first
    };
    // Nothing is left empty at the end that could show something.
    let last = all.saturating_sub(seen);
    if first > last { last } else { first }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cursor_is_seen_and_the_list_stays_where_it_can() {
        for (first, cursor, seen, all, expected) in [
            (0, 0, 10, 100, 0),
            (0, 9, 10, 100, 0),
            (0, 10, 10, 100, 1),
            (50, 40, 10, 100, 40),
            (50, 55, 10, 100, 50),
            (95, 99, 10, 100, 90),
            (5, 2, 10, 4, 0),
            (5, 7, 0, 9, 5),
        ] {
            assert_eq!(follow(first, cursor, seen, all), expected, "{first} {cursor} {seen} {all}");
        }
    }
}
