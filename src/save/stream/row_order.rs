//! Finds rows whose numbers are out of the order of their table: their numbers are damaged, and with them their keys.

/// Follows the numbers of rows in the order of their table.
#[derive(Debug, Default)]
pub(super) struct RowOrder {
    /// How many rows there were.
    rows: u32,
    /// The last three numbers, the newest one last.
    last: [Option<i64>; 3],
    /// Whether the last two can be read and are between the numbers that the pages above them give.
    fit: [bool; 2],
    /// Rows that are out of order, by how many were before them, in ascending order.
    misplaced: Vec<u32>,
}

impl RowOrder {
    /// Adds the number of the next row, and whether that can be read and is between those that the pages above it give.
    pub fn add(&mut self, number: i64, fits: bool) {
        self.judge(Some(number));
        let [_, before] = self.fit;
        self.fit = [before, fits];
        let [_, a, b] = self.last;
        self.last = [a, b, Some(number)];
        self.rows = self.rows.saturating_add(1);
    }

    /// The rows that are out of order.
    pub fn finish(mut self) -> Vec<u32> {
        self.judge(None);
        self.misplaced.dedup();
        self.misplaced
    }

    /// Finds which of the last two rows is out of order if they are not in order. It is the one without which the numbers
    /// before and after it are. If that is either, it is the one that cannot be read or that the pages above contradict, or
    /// both may be; if it is neither, a whole page is elsewhere.
    fn judge(&mut self, next: Option<i64>) {
        let [before, Some(first), Some(second)] = self.last else { return };
        if first < second {
            return;
        }
        let is_first = before.is_none_or(|before| before < second);
        let is_second = next.is_none_or(|next| first < next);
        let (is_first, is_second) = match (is_first && is_second, self.fit) {
            (true, [first, second]) if first != second => (second, first),
            _ => (is_first, is_second),
        };
        for (is_it, back) in [(is_first, 2), (is_second, 1)] {
            let row = self.rows.saturating_sub(back);
            if is_it && self.misplaced.last().is_none_or(|last| *last < row) {
                self.misplaced.push(row);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RowOrder;

    fn misplaced(numbers: &[i64]) -> Vec<u32> {
        let mut order = RowOrder::default();
        numbers.iter().for_each(|number| order.add(*number, true));
        order.finish()
    }

    #[test]
    fn the_pages_above_decide_between_two_rows() {
        // Either 7 or 5 may be wrong; the pages above say that the rows here are below 7, or above 5.
        for (fits, expected) in [([false, true], &[1][..]), ([true, false], &[2]), ([false; 2], &[1, 2])] {
            let mut order = RowOrder::default();
            for (number, fits) in [(1, true), (7, fits[0]), (5, fits[1]), (9, true)] {
                order.add(number, fits);
            }
            assert_eq!(order.finish(), expected);
        }
    }

    #[test]
    fn the_row_is_found_without_which_the_others_are_in_order() {
        for (numbers, expected) in [
            (&[1, 2, 3, 4, 5][..], &[][..]),
            (&[1, 2, 90, 4, 5], &[2]),
            (&[1, 2, -90, 4, 5], &[2]),
            (&[90, 2, 3], &[0]),
            (&[1, 2, 3, 0], &[3]),
            (&[1, 2, 2, 4], &[1, 2]),
            (&[1, 2, 3, 3], &[2, 3]),
            // Either may be wrong.
            (&[1, 7, 5, 9], &[1, 2]),
            (&[2, 1], &[0, 1]),
            // A page with several rows is elsewhere.
            (&[1, 2, 50, 51, 52, 3, 4], &[]),
            (&[1, 90, 3, 80, 5, 6], &[1, 3]),
            (&[1, 2, 80, 5], &[2, 3]),
            (&[1], &[]),
            (&[], &[]),
        ] {
            assert_eq!(misplaced(numbers), expected, "{numbers:?}");
        }
    }
}
