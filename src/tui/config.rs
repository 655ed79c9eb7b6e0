//! The configuration: colours and keys, from a file.
//!
//! ```toml
//! theme = "light"           # terminal, bright, light, mono
//! ascii = false             # letters only
//! mouse = true              # false leaves the mouse to the terminal
//!
//! [keys]                    # actions by their names, as the command palette has them
//! quit = ["q", "ctrl-q"]
//! next-finding = ["n", "f8"]
//! ```

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use etcetera::{BaseStrategy, choose_base_strategy};
use serde::Deserialize;

use super::action::{Action, Keymap};
use super::keys::Key;
use super::theme::Theme;

/// The contents of the file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The name of a theme.
    pub theme: Option<String>,
    /// Letters only.
    #[serde(default)]
    pub ascii: bool,
    /// Whether the mouse is used; it is when nothing is said.
    pub mouse: Option<bool>,
    /// Keys of actions.
    #[serde(default)]
    pub keys: BTreeMap<String, Vec<String>>,
}

/// Bytes of a configuration that are read at most.
const MOST_BYTES: u64 = 1 << 20;

impl Config {
    /// Reads the configuration: of the file that is named, or of the usual place, where it need not be.
    ///
    /// # Errors
    /// A sentence with the file's name that says what is wrong.
    pub fn read(named: Option<&Path>) -> Result<Self, String> {
        let Some(path) = named.map(Path::to_owned).or_else(usual_place) else { return Ok(Self::default()) };
        let shown = crate::printable::path(&path);
        let mut text = String::new();
        let read = File::open(&path).and_then(|file| file.take(MOST_BYTES + 1).read_to_string(&mut text));
        match read {
            Ok(n) if n as u64 > MOST_BYTES => Err(format!("{shown}: it is larger than {MOST_BYTES} bytes")),
            Ok(_) => Self::parse(&text).map_err(|error| format!("{shown}: {error}")),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && named.is_none() => Ok(Self::default()),
            Err(error) => Err(format!("{shown}: {error}")),
        }
    }

    /// Reads the text of a configuration.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let config: Self = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| text.get(..span.start).unwrap_or(text).matches('\n').count() + 1);
            format!("line {line}: {}", crate::printable::printable(error.message()))
        })?;
        config.theme()?;
        config.keymap()?;
        Ok(config)
    }

    /// The theme.
    ///
    /// # Errors
    /// A sentence, when there is none of that name.
    pub fn theme(&self) -> Result<Option<Theme>, String> {
        let Some(name) = &self.theme else { return Ok(None) };
        let names: Vec<&str> = Theme::ALL.iter().map(|(name, _)| *name).collect();
        let wrong =
            || format!("there is no theme `{}`: there are {}", crate::printable::printable(name), names.join(", "));
        Theme::from_name(name).map(Some).ok_or_else(wrong)
    }

    /// The keys: the usual ones, with those of the file instead.
    ///
    /// # Errors
    /// A sentence, when there is no such action or no such key.
    pub fn keymap(&self) -> Result<Keymap, String> {
        let mut map = Keymap::default();
        for (name, keys) in &self.keys {
            let shown = crate::printable::printable(name);
            let action = Action::from_name(name)
                .ok_or_else(|| format!("keys: there is no action `{shown}`; `:` in the explorer lists them"))?;
            let keys = keys.iter().map(|key| Key::parse(key)).collect::<Result<Vec<_>, _>>();
            map.bind(action, keys.map_err(|error| format!("keys of {shown}: {error}"))?);
        }
        Ok(map)
    }
}

/// The place of the configuration among the user's own.
#[must_use]
pub fn usual_place() -> Option<PathBuf> {
    let base = choose_base_strategy().ok()?.config_dir();
    Some(base.join("voxscope").join("config.toml"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::action::ACTIONS;

    #[test]
    fn keys_and_colours_are_read() {
        let config = Config::parse("theme = 'mono'\nascii = true\n[keys]\nquit = ['ctrl-q']\n").unwrap();
        assert_eq!(config.theme(), Ok(Some(Theme::Mono)));
        assert!(config.ascii);
        let map = config.keymap().unwrap();
        assert_eq!(map.action(Key::parse("ctrl-q").unwrap()), Some(Action::Quit));
        assert_eq!(map.action(Key::parse("q").unwrap()), None);
        assert!(Config::parse("").is_ok());
    }

    #[test]
    fn every_action_can_have_other_keys() {
        let keys = || (0x410..).filter_map(char::from_u32);
        let lines = ACTIONS.iter().zip(keys()).map(|(spec, key)| format!("{} = ['{key}']\n", spec.name));
        let config = Config::parse(&format!("[keys]\n{}", lines.collect::<String>())).unwrap();
        let (map, before) = (config.keymap().unwrap(), Keymap::default());
        for (spec, key) in ACTIONS.iter().zip(keys()) {
            let key = Key::parse(&key.to_string()).unwrap();
            assert_eq!(map.action(key), Some(spec.action), "{}", spec.name);
            assert_eq!(map.keys(spec.action), [key], "{}", spec.name);
            assert!(before.keys(spec.action).iter().all(|usual| map.action(*usual).is_none()), "{}", spec.name);
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, word) in [
            ("theme = 'dark'", "terminal, bright, light, mono"),
            ("\ncolour = 1", "line 2"),
            ("[keys]\nfly = ['f']", "no action `fly`"),
            ("[keys]\nquit = ['qq']", "is no key"),
            ("theme = ", "line 1"),
            ("theme = '\u{1b}[2J'", "line 1"),
        ] {
            let error = Config::parse(text).unwrap_err();
            assert!(error.contains(word), "{text}: {error}");
            assert!(!error.contains('\u{1b}'));
        }
    }
}
