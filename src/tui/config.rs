//! The configuration: colours and keys, from a file.
//!
//! ```toml
//! theme = "light"           # terminal, bright, light, mono
//! ascii = false             # letters only
//!
//! [keys]                    # actions by their names, as the command palette has them
//! quit = ["q", "ctrl-q"]
//! next-finding = ["n", "f8"]
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::action::{Action, Keymap};
use super::keys::Key;
use super::theme::Theme;

/// What the file says.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The name of a theme.
    pub theme: Option<String>,
    /// Letters only.
    #[serde(default)]
    pub ascii: bool,
    /// Keys of actions.
    #[serde(default)]
    pub keys: BTreeMap<String, Vec<String>>,
}

impl Config {
    /// Reads the configuration: of the file that is named, or of the usual place, where it need not be.
    ///
    /// # Errors
    /// A sentence with the file's name that says what is wrong.
    pub fn read(named: Option<&Path>) -> Result<Self, String> {
        let Some(path) = named.map(Path::to_owned).or_else(usual_place) else { return Ok(Self::default()) };
        let shown = crate::printable::path(&path);
        match std::fs::read_to_string(&path) {
            Ok(text) => Self::parse(&text).map_err(|error| format!("{shown}: {error}")),
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

    /// The keys: those that are usual, with what the file says instead.
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

/// Where the file is looked for.
#[must_use]
pub fn usual_place() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = if cfg!(windows) { set("APPDATA") } else { set("XDG_CONFIG_HOME").filter(|path| path.is_absolute()) };
    let base = base.or_else(|| Some(set("HOME")?.join(".config")))?;
    Some(base.join("voxscope").join("config.toml"))
}

#[cfg(test)]
mod tests {
    use super::*;

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
