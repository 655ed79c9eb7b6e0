//! Options that say what of two saves is compared, for `diff` and for the explorer.

use super::export::parse_channel;
use super::target::{self, KeyRuleArgument, SlotsArgument};

/// Heading of the options for two saves.
pub const HEADING: &str = "Two saves";

/// Which parts of two saves are compared, and how the second one is read.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Scope {
    /// Compare this LOD only; may be repeated
    #[arg(long, value_name = "N", help_heading = HEADING)]
    pub lod: Vec<u8>,
    /// Compare these channels only, by name or number
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = parse_channel, help_heading = HEADING)]
    pub channels: Vec<usize>,
    /// Slot formula of the second save, if it differs from that of the first
    #[arg(long, value_name = "FORMULA", help_heading = HEADING)]
    pub slots_b: Option<SlotsArgument>,
    /// How keys of the second save store positions above LOD 0, if that differs from the first
    #[arg(long, value_name = "RULE", help_heading = HEADING)]
    pub key_rule_b: Option<KeyRuleArgument>,
}

impl Scope {
    /// Whether no such option was given.
    #[cfg(feature = "tui")]
    pub const fn is_empty(&self) -> bool {
        self.lod.is_empty() && self.channels.is_empty() && self.slots_b.is_none() && self.key_rule_b.is_none()
    }

    /// The options for the second save, by those for the first.
    pub fn second(&self, first: &target::Options) -> target::Options {
        let second = self.slots_b.map_or_else(|| first.clone(), |slots| first.with_slots(slots));
        self.key_rule_b.map_or_else(|| second.clone(), |rule| second.with_key_rule(rule))
    }
}
