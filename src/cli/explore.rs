//! `voxscope [PATH]`: the explorer on a terminal, what `info` prints elsewhere.

use std::io::{IsTerminal, stdin, stdout};
use std::path::{Path, PathBuf};

use voxscope::picture::palette::Palette;
use voxscope::save::{self, Save};
use voxscope::tui::config::Config;
use voxscope::tui::theme::{ColorMode, Theme};
use voxscope::tui::{self, CompareWith, End, Settings};

use super::effort::Effort;
use super::exit::{Exit, Failure};
use super::scope::{self, Scope};
use super::{Color, info, target};

const HEADING: &str = "The explorer";

/// Appearance of the explorer.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ThemeArgs {
    /// Colour theme: terminal, bright, light or mono
    #[arg(long, value_name = "NAME", value_parser = theme, help_heading = HEADING)]
    theme: Option<Theme>,
    /// Names and colours of voxels: TOML, or the JSON of the engine's id map; beside those that the save has
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    names: Option<PathBuf>,
    /// How much work to spend on blocks whose places are hard to decide
    #[arg(long, value_name = "EFFORT", default_value = "normal", help_heading = HEADING)]
    effort: Effort,
    /// Use ASCII characters only, for terminals without Unicode
    #[arg(long, help_heading = HEADING)]
    ascii: bool,
    /// Leave the mouse to the terminal, so that it selects text
    #[arg(long, help_heading = HEADING)]
    no_mouse: bool,
    /// Colours and keys; voxscope/config.toml among the user's configuration when not given
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    config: Option<PathBuf>,
}

/// A save to compare with.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Two {
    /// Compare with this save and show what differs: a map, and each block in both saves
    #[arg(long, value_name = "SAVE", help_heading = scope::HEADING)]
    against: Option<PathBuf>,
    #[command(flatten)]
    scope: Scope,
}

fn theme(name: &str) -> Result<Theme, String> {
    let names: Vec<&str> = Theme::ALL.iter().map(|(name, _)| *name).collect();
    Theme::from_name(name).ok_or_else(|| format!("expected one of {}", names.join(", ")))
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
    look: &ThemeArgs,
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
    let mut library = match path.as_deref().and_then(|path| options.of_bare_data(path)) {
        Some(library) => library,
        None => options.to_library()?,
    };
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

/// Explores what differs between two saves. Errors exit as those of `diff` do.
pub fn two(
    a: &Path,
    b: &Path,
    options: &target::Options,
    scope: &Scope,
    look: &ThemeArgs,
    color: Color,
) -> Result<Exit, Failure> {
    let explored = (|| {
        if !has_terminal() {
            return Err(Failure::Trouble(
                "there is no terminal to show what differs on: `voxscope diff A B` prints it".to_owned(),
            ));
        }
        let against = CompareWith {
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
        Err(Failure::Failed(text)) => Err(Failure::Trouble(text)),
        other => other,
    }
}

/// Runs the explorer until the user quits.
pub fn explore(settings: Settings, look: &ThemeArgs, color: Color) -> Result<Exit, Failure> {
    let config = Config::read(look.config.as_deref()).map_err(Failure::Usage)?;
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let colourless = match color {
        Color::Auto => no_color,
        Color::Always => false,
        Color::Never => true,
    };
    let configured = config.theme().map_err(Failure::Usage)?;
    let chosen = look.theme.or((colourless).then_some(Theme::Mono)).or(configured);
    let (names, wrong) = Palette::of_save(&settings.path, look.names.as_deref()).map_err(Failure::Usage)?;
    let names = if names.types.is_empty() { settings.names.clone() } else { names };
    let said = |name: &str| std::env::var(name).ok();
    let colors = match (colourless, color) {
        (true, _) => ColorMode::None,
        (false, _) => ColorMode::of_terminal(said("COLORTERM").as_deref(), said("TERM").as_deref()),
    };
    let settings = Settings {
        effort: look.effort.to_library(),
        theme: chosen.unwrap_or_default(),
        detect_background: chosen.is_none(),
        no_mouse: look.no_mouse || config.mouse == Some(false),
        colors,
        names,
        greeting: settings.greeting.clone().or(wrong),
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
