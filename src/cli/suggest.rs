//! Names that are spelled like one that does not exist.

/// Up to `most` of `names` that are spelled like `name`, the likest first: "`check`", "`a`, `b` or `c`"; empty if there
/// is none.
pub fn suggest(name: &str, names: &[&str], most: usize) -> String {
    let words: Vec<&str> = name.split(['-', '_', ' ']).collect();
    let mut near: Vec<(f64, &str)> = names
        .iter()
        .filter_map(|other| {
            let shares_word = other.split('-').any(|word| word.len() > 3 && words.contains(&word));
            let likeness = strsim::jaro(name, other) + if shares_word { 0.2 } else { 0.0 };
            (likeness > 0.75).then_some((likeness, *other))
        })
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut quoted: Vec<String> = near.iter().take(most).map(|(_, name)| format!("`{name}`")).collect();
    match quoted.pop() {
        Some(last) if quoted.is_empty() => last,
        Some(last) => format!("{} or {last}", quoted.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_name_suggests_the_names_like_it() {
        assert_eq!(suggest("chek", &["check", "info", "ls"], 1), "`check`");
        assert_eq!(suggest("epilogue", &["block-epilogue", "meta-missing"], 3), "`block-epilogue`");
        assert_eq!(suggest("xyz", &["check", "info", "ls"], 3), "");
    }
}
