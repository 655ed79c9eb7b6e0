//! Texts that do not fit, without what matters least of them.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A text without its middle, in at most `room` columns; `more` is the mark in its place.
pub fn shorten_middle(text: &str, room: usize, more: &str) -> String {
    if text.width() <= room {
        return text.to_owned();
    }
    // Names of files differ at their ends more often than at their beginnings, and of a path the last names say most.
    let ends = text.match_indices('/').filter_map(|(at, slash)| text.get(at + slash.len()..));
    let whole = ends.map(UnicodeWidthStr::width).find(|width| *width < room);
    let end = whole.map_or(room / 2, |width| width.max(room / 2));
    let tail = fitting(text.chars().rev(), end);
    let head = fitting(text.chars(), room.saturating_sub(end).saturating_sub(more.width()));
    head.into_iter().chain(more.chars()).chain(tail.into_iter().rev()).collect()
}

/// The names of a place from the outermost on, with `into` between them, in at most `room` columns if possible: without the first ones,
/// which `more` replaces.
pub fn shorten_place(names: &[String], room: usize, into: &str, more: &str) -> String {
    let mut all = names.join(into);
    for from in 1..names.len() {
        if all.width() <= room {
            break;
        }
        let rest = names.get(from..).unwrap_or_default();
        all = format!("{more}{into}{}", rest.join(into));
    }
    all
}

/// The first characters that fit into a number of columns.
fn fitting(text: impl Iterator<Item = char>, room: usize) -> Vec<char> {
    let mut used = 0usize;
    let fits = text.take_while(|c| {
        used += c.width().unwrap_or(0);
        used <= room
    });
    fits.collect()
}

/// Shortens texts, each to its own number of columns, so that different ones stay different where there is room: those that
/// would have the same form without their middle keep the part in which they differ.
pub fn shorten_apart(texts: &[(&str, usize)], more: &str) -> Vec<String> {
    let middles: Vec<String> = texts.iter().map(|(text, room)| shorten_middle(text, *room, more)).collect();
    let each = |((text, room), short): (&(&str, usize), &String)| {
        let same = texts.iter().zip(&middles).filter(|((other, _), middle)| other != text && *middle == short);
        let shared = same.map(|((other, _), _)| text.chars().zip(other.chars()).take_while(|(a, b)| a == b).count());
        let range = shared.fold(None, |range: Option<(usize, usize)>, at| match range {
            None => Some((at, at)),
            Some((first, last)) => Some((first.min(at), last.max(at))),
        });
        let inside = room.saturating_sub(2 * more.width());
        let Some((first, last)) = range.filter(|_| inside > 0) else { return short.clone() };
        // Something before the difference, to recognize the name by; less where the last difference needs the room.
        let from = (first.saturating_sub(inside / 2)).max((last + 2).saturating_sub(inside)).min(first);
        let part: String = fitting(text.chars().skip(from), inside).into_iter().collect();
        let is_end = from + part.chars().count() >= text.chars().count();
        format!("{}{part}{}", if from > 0 { more } else { "" }, if is_end { "" } else { more })
    };
    texts.iter().zip(&middles).map(each).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_their_middle_and_paths_keep_their_last_name() {
        assert_eq!(shorten_middle("r.-1000000.-2000000.vxr", 11, "…"), "r.-10…0.vxr");
        assert_eq!(shorten_middle("backups-of-june/12-before", 11, "…"), "b…12-before");
        assert_eq!(shorten_middle("world", 5, "…"), "world");
    }

    #[test]
    fn names_that_differ_in_the_middle_stay_different() {
        let names: Vec<String> =
            ["A", "B", "AB"].map(|x| format!("world-of-the-islands-{x}-before-the-crash-of-may")).into();
        for room in [12, 20, 31] {
            let texts: Vec<(&str, usize)> = names.iter().map(|name| (name.as_str(), room)).collect();
            let short = shorten_apart(&texts, "…");
            assert!(short.iter().all(|short| short.width() <= room), "{short:?}");
            assert!(short[0] != short[1] && short[1] != short[2] && short[0] != short[2], "{short:?}");
        }
    }

    #[test]
    fn a_place_loses_its_first_names_and_keeps_the_last_one() {
        let names = ["saves", "world", "r.0.0.0.vxr", "(1, -2, 3)"].map(str::to_owned);
        let short = |room| shorten_place(&names, room, " > ", "…");
        assert_eq!(short(40), "saves > world > r.0.0.0.vxr > (1, -2, 3)");
        assert_eq!(short(39), "… > world > r.0.0.0.vxr > (1, -2, 3)");
        assert_eq!(short(30), "… > r.0.0.0.vxr > (1, -2, 3)");
        assert_eq!(short(4), "… > (1, -2, 3)");
        assert_eq!(shorten_place(&[], 4, " > ", "…"), "");
    }

    #[test]
    fn equal_names_and_names_without_room_are_left_as_they_are() {
        assert_eq!(shorten_apart(&[("lod0", 10), ("lod0", 10)], "…"), ["lod0", "lod0"]);
        assert_eq!(shorten_apart(&[("abcdefgh", 2), ("abcxefgh", 2), ("", 0)], "…").len(), 3);
    }
}
