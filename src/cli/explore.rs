//! `voxscope [PATH]`: the explorer on a terminal, what `info` prints elsewhere.

use std::io::{IsTerminal, stdin, stdout};
use std::path::{Path, PathBuf};

use voxscope::save::{self, Save};
use voxscope::tui::config::Config;
use voxscope::tui::theme::Theme;
use voxscope::tui::{self, Against, End, Settings};

use super::exit::{Exit, Failure};
use super::{Color, diff, info, target};

const HEADING: &str = "The explorer";

/// How the explorer looks.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Look {
    /// Colours: terminal, bright, light or mono
    #[arg(long, value_name = "NAME", value_parser = theme, help_heading = HEADING)]
    theme: Option<Theme>,
    /// Letters only, for terminals without Unicode
    #[arg(long, help_heading = HEADING)]
    ascii: bool,
    /// Colours and keys; voxscope/config.toml among the user's configuration when not given
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    config: Option<PathBuf>,
}

/// A save to compare with.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Two {
    /// Compares the save with another one, and shows what differs: a map, and each block in both
    #[arg(long, value_name = "SAVE", help_heading = diff::HEADING)]
    against: Option<PathBuf>,
    #[command(flatten)]
    scope: diff::Scope,
}

fn theme(name: &str) -> Result<Theme, String> {
    let names: Vec<&str> = Theme::ALL.iter().map(|(name, _)| *name).collect();
    Theme::from_name(name).ok_or_else(|| format!("there are {}", names.join(", ")))
}

/// Whether there is a terminal to explore on.
pub fn has_terminal() -> bool {
    stdin().is_terminal() && stdout().is_terminal()
}

/// `voxscope [PATH]`.
pub fn run(
    path: Option<PathBuf>,
    options: target::Options,
    with: &Two,
    look: &Look,
    color: Color,
) -> Result<Exit, Failure> {
    if let Some(other) = &with.against {
        return two(target::path_or_here(path.as_ref()), other, &options, &with.scope, look, color);
    }
    if !with.scope.is_empty() {
        return Err(Failure::Usage("--lod, --channels and --slots-b go with --against".to_owned()));
    }
    if !has_terminal() {
        return info::browse(path, options);
    }
    let mut library = options.to_library()?;
    if path.is_none() {
        // Here means here: not what may lie somewhere below.
        library.limits.directory_depth = 1;
        if let Err(save::Error::NothingHere(_)) = Save::open(target::path_or_here(None), &library) {
            return info::browse(path, options);
        }
    }
    let path = target::path_or_here(path.as_ref()).to_owned();
    if !path.exists() {
        // What is not there needs no screen to say so.
        Save::open(&path, &library)?;
    }
    explore(Settings { path, options: library, ..Settings::default() }, look, color)
}

/// Explores what differs between two saves. What cannot be done is the trouble that it is to `diff`.
pub fn two(
    a: &Path,
    b: &Path,
    options: &target::Options,
    scope: &diff::Scope,
    look: &Look,
    color: Color,
) -> Result<Exit, Failure> {
    let explored = (|| {
        if !has_terminal() {
            return Err(Failure::Trouble(
                "there is no terminal to show what differs on: `voxscope diff A B` prints it".to_owned(),
            ));
        }
        let against = Against {
            path: b.to_owned(),
            options: scope.second(options).to_library()?,
            lods: scope.lod.clone(),
            channels: scope.channels.clone(),
        };
        let library = options.to_library()?;
        for (path, options) in [(a, &library), (b, &against.options)] {
            if !path.exists() {
                // What is not there needs no screen to say so.
                Save::open(path, options)?;
            }
        }
        let settings = Settings { path: a.to_owned(), options: library, against: Some(against), ..Settings::default() };
        explore(settings, look, color)
    })();
    match explored {
        Err(Failure::Failed(text) | Failure::Usage(text)) => Err(Failure::Trouble(text)),
        other => other,
    }
}

/// Explores a save until it is left.
pub fn explore(settings: Settings, look: &Look, color: Color) -> Result<Exit, Failure> {
    let config = Config::read(look.config.as_deref()).map_err(Failure::Usage)?;
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let colourless = match color {
        Color::Auto => no_color,
        Color::Always => false,
        Color::Never => true,
    };
    let configured = config.theme().map_err(Failure::Usage)?;
    let theme = look.theme.or((colourless).then_some(Theme::Mono)).or(configured).unwrap_or_default();
    let settings = Settings {
        theme,
        ascii: look.ascii || config.ascii,
        keymap: config.keymap().map_err(Failure::Usage)?,
        ..settings
    };
    match tui::run(settings) {
        Ok(End::Left) => Ok(Exit::CLEAN),
        Ok(End::Signal) => Ok(Exit::INTERRUPTED),
        Err(error) => Err(Failure::Failed(error.to_string())),
    }
}
