//! Instances of a stream, such as plants and stones, as lines.

use std::borrow::Cow;
use std::io::BufWriter;
use std::path::Path;

use super::voxels::{Error, Odd};
use super::{Format, Lines, Record};
use crate::draft::{self, Draft};
use crate::watch::{Step, Watch};
use crate::world::{At, Buffer, World, order};

/// The file while it is written.
const NAME: &str = "instances";

/// One instance.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct Line {
    /// LOD of its block.
    pub lod: u8,
    /// Its block.
    pub block: [i32; 3],
    /// Its item in the instancer's library.
    pub layer: u16,
    /// Position in the block, in voxels.
    pub position: [f32; 3],
    /// Its scale.
    pub scale: f32,
    /// Its rotation, a quaternion x, y, z, w.
    pub rotation: [f32; 4],
}

impl Record for Line {
    const COLUMNS: &'static [&'static str] = &[
        "lod",
        "block_x",
        "block_y",
        "block_z",
        "layer",
        "x",
        "y",
        "z",
        "scale",
        "rotation_x",
        "rotation_y",
        "rotation_z",
        "rotation_w",
    ];

    fn cells(&self) -> Vec<Cow<'_, str>> {
        let mut cells = vec![self.lod.to_string().into()];
        cells.extend(self.block.map(|n| Cow::Owned(n.to_string())));
        cells.push(self.layer.to_string().into());
        let numbers = self.position.into_iter().chain([self.scale]).chain(self.rotation);
        cells.extend(numbers.map(|n| Cow::Owned(n.to_string())));
        cells
    }
}

/// What was exported.
#[derive(Debug, Default)]
pub struct Summary {
    /// Instances.
    pub instances: u64,
    /// Blocks with instances.
    pub blocks: u64,
    /// Blocks whose instances could not be read completely; the others are in the file.
    pub damaged: Vec<Odd>,
}

/// Writes the instances of a LOD, or of all, into a new file, CSV or JSON lines as its name ends: LOD by LOD, blocks in
/// the order ZXY.
///
/// # Errors
/// If the world has no instances, the extension names no format, the destination cannot be used, or writing fails.
pub fn instances(world: &World<'_>, lod: Option<u8>, to: &Path, watch: &Watch<'_>) -> Result<Summary, Error> {
    if !world.has_instances() {
        return Err(Error::Request(format!("{}: only SQLite streams keep instances", world.name)));
    }
    let format = to.file_name().and_then(|name| Format::of_name(&name.to_string_lossy())).ok_or_else(|| {
        Error::Request("the name of the file ends in .csv or .jsonl, which says what is written".to_owned())
    })?;
    let draft = Draft::new(&[world.path()], to, watch)?;
    let (file, path) = draft.create(Path::new(NAME))?;
    let mut out = Lines::new(BufWriter::with_capacity(1 << 16, file), format).map_err(draft::Error::write(&path))?;
    let mut summary = Summary::default();
    let mut buffer = Buffer::default();
    for lod in world.lods().into_iter().filter(|one| lod.is_none_or(|lod| lod == *one)) {
        let index = world.index(lod);
        let mut blocks: Vec<At> = [index.blocks, index.bare].concat();
        blocks.sort_by_key(|at| order(at.position));
        watch.begin(Step::Exporting, blocks.len() as u64);
        for at in &blocks {
            draft.go_on()?;
            watch.advance(1);
            world.fetch(at, &mut buffer)?;
            let Some(view) = world.decode_instances(&mut buffer) else { continue };
            if !view.damage.is_empty() {
                let codes: Vec<&str> = view.damage.iter().map(|d| d.code.name()).collect();
                summary.damaged.push(Odd { block: at.position, why: codes.join(" ") });
            }
            let Some(instances) = &view.instances else { continue };
            let before = summary.instances;
            for layer in &instances.layers {
                for instance in layer.instances() {
                    summary.instances += 1;
                    let line = Line {
                        lod,
                        block: at.position,
                        layer: layer.id,
                        position: instance.position(instances.position_range),
                        scale: instance.scale(layer.scale_min, layer.scale_max),
                        rotation: instance.rotation(),
                    };
                    out.write(&line).map_err(draft::Error::write(&path))?;
                }
            }
            summary.blocks += u64::from(summary.instances > before);
        }
    }
    out.finish().map_err(draft::Error::write(&path))?;
    draft.sync(Path::new(NAME))?;
    if let Some(file) = world.changed() {
        return Err(draft::Error::Changed(file.into()).into());
    }
    draft.finish_files(&[(Path::new(NAME), to)])?;
    Ok(summary)
}
