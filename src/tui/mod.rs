//! The explorer: a terminal UI over a save.
//!
//! State, update, view, in that order: [`update::update`] lets an event change the [state](app::App) and asks for jobs,
//! [`draw::draw`] draws it; neither knows a terminal. One [table of actions](action::ACTIONS) makes keys, help, hints and
//! palette. What is read is read by [jobs], off the screen's thread. One [selection](app::Selection) links all panes.

pub mod action;
pub mod app;
mod canvas;
mod check;
pub mod compare;
pub mod config;
pub mod data;
pub mod draw;
pub mod driver;
#[cfg(debug_assertions)]
mod fault;
pub mod findings;
mod go;
pub mod history;
mod inspector;
pub mod jobs;
pub mod keys;
pub mod layout;
pub mod pane;
mod panes;
pub mod popup;
pub mod prompt;
mod run;
mod scroll;
mod terminal;
pub mod theme;
pub mod update;
mod watch;

pub use app::{App, Settings};
pub use compare::Against;
pub use driver::Driver;
pub use run::{End, Error, run};
