//! Filters over the block table: `lod=0 bytes>4096 state!=ok`.
//!
//! Terms separated by spaces, all of which must be true: a field, `=` `!=` `<` `<=` `>` `>=`, a value. Fields with
//! numbers: `lod x y z slot sector sectors bytes plain ratio version instances`; in the words of pak regions, `record` is
//! `slot`, `block` is `sector` and `blocks` is `sectors`. Fields with words: `state` (`ok`, `note`,
//! `warning`, `error`; `<` and `>` by severity), `container` (`plain`, `lz4-be`, `lz4`, `zstd`, `headerless`, `lz4-wrong-order`, `zlib`, `none`), `code` (any
//! of the block's findings), `file` (`=` means that the name contains it).

use crate::check::{Row, pak};
use crate::damage::Code;
use crate::godot::container::Mode;

/// A filter; the empty one accepts every row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    terms: Vec<Term>,
}

#[derive(Clone, Debug, PartialEq)]
enum Term {
    Number(&'static str, Operator, f64),
    State(Operator, usize),
    Container(bool, String),
    Code(bool, Code),
    File(bool, String),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Operator {
    Equal,
    NotEqual,
    Less,
    AtMost,
    More,
    AtLeast,
}

/// Longer operators first, so that `<=` is not parsed as `<`.
const OPERATORS: [(&str, Operator); 6] = [
    ("!=", Operator::NotEqual),
    ("<=", Operator::AtMost),
    (">=", Operator::AtLeast),
    ("=", Operator::Equal),
    ("<", Operator::Less),
    (">", Operator::More),
];

const NUMBERS: [&str; 12] =
    ["lod", "x", "y", "z", "slot", "sector", "sectors", "bytes", "plain", "ratio", "version", "instances"];

/// Other names of numbers: the words of pak regions, where `slot` and `sector` are names of the first kind, and those above columns.
const ALIASES: [(&str, &str); 5] =
    [("record", "slot"), ("block", "sector"), ("blocks", "sectors"), ("stored", "bytes"), ("decompressed", "plain")];

/// Stands for the container of a block that has none.
const NO_CONTAINER: &str = "none";

/// What may be compared with the container of a block.
fn containers() -> impl Iterator<Item = &'static str> {
    let modes = Mode::ALL.into_iter().chain([Mode::Lz4WrongOrder]).map(Mode::name);
    modes.chain([pak::CONTAINER, NO_CONTAINER])
}

/// States by severity.
const STATES: [&str; 4] = ["ok", "note", "warning", "error"];

impl Operator {
    fn holds<T: PartialOrd + Copy>(self, a: T, b: T) -> bool {
        match self {
            Self::Equal => a == b,
            Self::NotEqual => a != b,
            Self::Less => a < b,
            Self::AtMost => a <= b,
            Self::More => a > b,
            Self::AtLeast => a >= b,
        }
    }
}

impl Filter {
    /// Parses a filter.
    ///
    /// # Errors
    /// A sentence that says which term is wrong and what it could be.
    pub fn parse(text: &str) -> Result<Self, String> {
        let terms = text.split_whitespace().map(term).collect::<Result<_, _>>()?;
        Ok(Self { terms })
    }

    /// Whether a row matches.
    #[must_use]
    pub fn matches(&self, row: &Row) -> bool {
        self.terms.iter().all(|term| match term {
            Term::Number(field, operator, value) => number(row, field).is_some_and(|n| operator.holds(n, *value)),
            Term::State(operator, value) => {
                let state = STATES.iter().position(|state| *state == row.state()).unwrap_or(0);
                operator.holds(state, *value)
            }
            Term::Container(equal, name) => (row.container.unwrap_or(NO_CONTAINER) == name) == *equal,
            Term::Code(equal, code) => row.codes.contains(*code) == *equal,
            Term::File(equal, part) => row.file.contains(part.as_str()) == *equal,
        })
    }
}

fn number(row: &Row, field: &str) -> Option<f64> {
    let axis = |i: usize| row.position.and_then(|p| p.get(i).copied()).map(f64::from);
    Some(match field {
        "lod" => f64::from(row.lod),
        "x" => axis(0)?,
        "y" => axis(1)?,
        "z" => axis(2)?,
        "slot" => f64::from(row.slot),
        "sector" => f64::from(row.sector?),
        "sectors" => f64::from(row.sectors),
        "bytes" => row.bytes as f64,
        "plain" => row.plain as f64,
        "ratio" => row.ratio(),
        "version" => f64::from(row.version?),
        // Rows without instances count as 0.
        "instances" => row.instances.unwrap_or(0) as f64,
        _ => return None,
    })
}

fn term(text: &str) -> Result<Term, String> {
    let shown = crate::printable::printable(text);
    let at = text.find(['=', '!', '<', '>']);
    let parts = at.and_then(|at| {
        let (field, rest) = text.split_at_checked(at)?;
        let (sign, operator) = OPERATORS.into_iter().find(|(sign, _)| rest.starts_with(sign))?;
        Some((field, operator, rest.strip_prefix(sign)?))
    });
    let Some((field, operator, value)) = parts else {
        return Err(format!("`{shown}` is no filter: a field, one of = != < <= > >=, and a value, such as bytes>4096"));
    };
    let number = ALIASES.iter().find(|(alias, _)| *alias == field).map_or(field, |(_, name)| name);
    if let Some(name) = NUMBERS.into_iter().find(|name| *name == number) {
        let number = value.parse().map_err(|_| format!("`{shown}`: {name} is compared with a number"))?;
        return Ok(Term::Number(name, operator, number));
    }
    if field == "state" {
        let state = STATES.iter().position(|state| *state == value);
        let state = state.ok_or_else(|| format!("`{shown}`: a state is one of {}", STATES.join(", ")))?;
        return Ok(Term::State(operator, state));
    }
    let equal = match operator {
        Operator::Equal => true,
        Operator::NotEqual => false,
        _ if ["container", "code", "file"].contains(&field) => {
            return Err(format!("`{shown}`: {field} is compared with = or != only"));
        }
        _ => false,
    };
    match field {
        "container" if containers().any(|name| name == value) => Ok(Term::Container(equal, value.to_owned())),
        "container" => Err(format!("`{shown}`: a container is one of {}", containers().collect::<Vec<_>>().join(", "))),
        "code" => Code::from_name(value)
            .map(|code| Term::Code(equal, code))
            .ok_or_else(|| format!("`{shown}`: there is no such code; `voxscope explain` lists them")),
        "file" => Ok(Term::File(equal, value.to_owned())),
        _ => Err(format!(
            "`{shown}`: there is no such field; there are {}, state, container, code and file",
            NUMBERS.join(", ")
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Row {
        Row {
            file: "regions/lod1/r.-1.0.0.vxr".into(),
            lod: 1,
            position: Some([-3, 0, 12]),
            slot: 7,
            sector: Some(40),
            sectors: 10,
            offset: Some(20_756),
            bytes: 5000,
            plain: 16_000,
            version: Some(4),
            container: Some("lz4"),
            codes: [Code::TableCount, Code::StaleTail].into_iter().collect(),
            flags: None,
            instances: None,
            known: None,
            key: None,
        }
    }

    #[test]
    fn terms_hold_or_do_not() {
        for (text, passes) in [
            ("", true),
            ("lod=1 bytes>4096 state!=ok", true),
            ("lod=0", false),
            ("x<0 z>=12 y<=0", true),
            ("x>-3", false),
            ("ratio>3.1 ratio<3.3", true),
            ("state>=warning state<error", true),
            ("state=error", false),
            ("code=table-count code!=block-epilogue", true),
            ("container=lz4", true),
            ("container!=lz4", false),
            ("container!=none", true),
            ("file=lod1/ file!=r.0.0.0", true),
            ("version=4 slot=7 sector=40 sectors=10 plain=16000", true),
            ("record=7 block=40 blocks=10", true),
            ("record=8", false),
            ("instances=0", true),
            ("instances>0", false),
        ] {
            assert_eq!(Filter::parse(text).unwrap().matches(&row()), passes, "{text}");
        }
    }

    #[test]
    fn a_wrong_term_is_named() {
        for (text, word) in [
            ("lod", "is no filter"),
            ("lod!1", "is no filter"),
            ("bytes>many", "number"),
            ("state=bad", "ok, note, warning, error"),
            ("container=lz5", "plain, lz4-be, lz4, zstd"),
            ("code=nothing", "no such code"),
            ("colour=red", "no such field"),
            ("file<a", "= or !="),
            ("a\u{1b}[2J", "\\u{1b}"),
        ] {
            let error = Filter::parse(text).unwrap_err();
            assert!(error.contains(word), "{text}: {error}");
        }
    }
}
