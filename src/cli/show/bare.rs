//! `show FILE --as KIND`: one block, container, array or instance data in a file of its own.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value as Json, json};
use voxscope::bytes::Span;
use voxscope::check::Finding;
use voxscope::damage::Code;
use voxscope::godot::container::Decoder;
use voxscope::godot::metadata::Metadata;
use voxscope::picture::palette::Palette;
use voxscope::printable;
use voxscope::save::bare::{self, Bare, BareKind};
use voxscope::save::{InstancesView, Options, Stored, View};
use voxscope::source::Source;

use super::Format;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::{BOLD, DIM, count, grouped, stdout, wrapped};

/// The kinds as an argument.
#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
pub enum KindArgument {
    /// Block data without a container
    Block,
    /// A container with block data or instance data
    Container,
    /// Instance data without a container
    Instances,
    /// An array of numbers
    Npy,
}

impl KindArgument {
    const fn kind(self) -> BareKind {
        match self {
            Self::Block => BareKind::Block,
            Self::Container => BareKind::Container,
            Self::Instances => BareKind::Instances,
            Self::Npy => BareKind::Npy,
        }
    }
}

/// Shows a file as a kind, or as the one that is inferred.
pub(super) fn show(
    path: &Path,
    asked: Option<KindArgument>,
    format: Format,
    hex: bool,
    names: &Palette,
    options: &Options,
) -> Result<Exit, Failure> {
    let name = printable::path(path);
    let failed = |error: &dyn std::fmt::Display| Failure::Failed(format!("{name}: {error}"));
    let bytes = bare::read_file(path, &options.limits).map_err(|error| failed(&error))?;
    let source = bare::open_file(path).map_err(|error| failed(&error))?;
    if source.len() > bytes.len() as u64 {
        let limit = count(bytes.len() as u64, "byte");
        return Err(failed(&format!("it is larger than the {limit} that are read of bare data")));
    }
    let layout = options.format.map(|format| format.layout());
    let (kind, why) = match asked {
        Some(asked) => (asked.kind(), "given"),
        None => match bare::infer(&bytes, layout.as_ref(), &options.limits) {
            Ok(found) => found,
            Err(tried) => {
                let tried: Vec<String> =
                    tried.iter().map(|tried| format!("\n  not {}: {}", tried.kind.name(), tried.why)).collect();
                let message = "this is neither a file of a save nor bare data; --as overrides what was tried:";
                return Err(failed(&format!("{message}{}", tried.concat())));
            }
        },
    };
    let mut reversed = Vec::new();
    let mut decoder = Decoder::default();
    let found = bare::read(kind, &bytes, layout.as_ref(), &options.limits, &mut decoder, &mut reversed);
    let file: Arc<str> = name.as_str().into();
    let findings: Vec<Finding> = super::block::damage_of(&found.damage, found.block.as_ref())
        .map(|damage| Finding::of_file(Arc::clone(&file), damage, None))
        .collect();
    let mut out = stdout();
    if format != Format::Text {
        format.write(&mut out, &to_json(&name, why, &bytes, &found, names, &findings))?;
    } else {
        writeln!(out, "{BOLD}{name}{BOLD:#} · {}", count(bytes.len() as u64, "byte"))?;
        let how = if asked.is_some() { "given" } else { "inferred" };
        let because = if asked.is_some() { String::new() } else { format!(": {why}") };
        writeln!(out, "{}", wrapped(&format!("  read as {} {DIM}· {how}{because}{DIM:#}", kind.name()), "    "))?;
        print(&mut out, &bytes, &found, names)?;
        writeln!(out)?;
        super::print_findings(&mut out, &findings, next_of_bare)?;
        if hex {
            writeln!(out)?;
            super::print_hex(&mut out, &source, &name, Span::sized(0, bytes.len() as u64))?;
        }
    }
    out.flush()?;
    Ok(Exit::DAMAGED.when(found.damage.iter().any(|d| d.code.level() > voxscope::damage::Level::Note)))
}

/// What to do about a finding of bare data, which `repair` does not take.
fn next_of_bare(code: Code) -> String {
    if code.next().contains("voxscope repair") {
        "`repair` and `convert` read saves, not bare data: look for another copy of this file.".to_owned()
    } else {
        code.next().to_owned()
    }
}

fn print(out: &mut impl Write, bytes: &[u8], found: &Bare<'_>, names: &Palette) -> std::io::Result<()> {
    if let Some(shown) = &found.layout {
        let (how, why) = shown.how();
        writeln!(out, "{}", wrapped(&format!("  size and depths {DIM}· {how}: {why}{DIM:#}"), "    "))?;
    }
    let stored = Stored { size: u32::try_from(bytes.len()).ok(), span: Span::sized(0, bytes.len() as u64) };
    if let Some(block) = &found.block {
        match &found.container {
            Some(container) => {
                let (container, block) = (Some(*container), Some(block.clone()));
                let view = View { stored, bytes, container, block, damage: &found.damage };
                super::stream::print_block(out, &view, names)?;
            }
            None => {
                let [x, y, z] = block.size;
                writeln!(out, "  version {} · {x} x {y} x {z} voxels", block.version)?;
                super::block::channels(out, block, names)?;
                if let Some(metadata) = &block.metadata {
                    writeln!(out)?;
                    super::metadata::print(out, metadata)?;
                }
            }
        }
    }
    if let Some(instances) = &found.instances {
        let instances = Some(instances.clone());
        let view = InstancesView { stored, container: found.container, instances, damage: &found.damage };
        super::stream::print_instances(out, &view)?;
    }
    if let Some(npy) = &found.npy {
        let shape = npy.shape.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        let order = if npy.fortran { "Fortran" } else { "C" };
        let ends = if npy.big_endian { "big-endian" } else { "little-endian" };
        writeln!(out, "  {} [{shape}] · {order} order, {ends} · data {}", npy.dtype.name(), npy.data)?;
        writeln!(out, "  {} of {}", grouped(npy.there()), count(npy.declared(), "number"))?;
        for line in found.array_words(bytes) {
            writeln!(out, "{}", wrapped(&format!("  {line}"), "    "))?;
        }
    }
    Ok(())
}

fn finding_json(finding: &Finding) -> Json {
    let mut json = serde_json::to_value(finding).unwrap_or_default();
    if let Some(next) = json.get_mut("next") {
        *next = next_of_bare(finding.code()).into();
    }
    json
}

fn to_json(name: &str, why: &str, bytes: &[u8], found: &Bare<'_>, names: &Palette, findings: &[Finding]) -> Json {
    let block = found.block.as_ref();
    json!({
        "file": name,
        "kind": found.kind,
        "why": why,
        "bytes": bytes.len(),
        "container": found.container.as_ref().map(super::block::container_json),
        "layout": found.layout.map(|shown| json!({ "how": shown.how().0, "why": shown.how().1 })),
        "version": block.map(|block| block.version),
        "size": block.map(|block| block.size),
        "channels": block.map(|block| super::block::channels_json(block, names)),
        "metadata": block.and_then(|block| block.metadata.as_ref()).map(Metadata::to_json),
        "instances": found.instances.as_ref().map(super::stream::data_json),
        "array": found.npy.as_ref().map(|npy| json!({ "dtype": npy.dtype.name(), "shape": npy.shape, "shows": found.array_words(bytes) })),
        "findings": findings.iter().map(finding_json).collect::<Vec<_>>(),
    })
}
