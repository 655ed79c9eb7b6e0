//! Where the chunks of pak regions are.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::damage::Level;
use crate::pak::chunk::{Order, Shape};
use crate::pak::record::Record;
use crate::save::{Pak, PakDir, PakScratch, Save};
use crate::source::FileSource;
use crate::world::Error;

/// Chunks that are looked at for the shape of all.
const PROBES: usize = 64;

/// The chunks of pak regions.
#[derive(Debug)]
pub(super) struct Chunks {
    /// For each chunk the number of its file, and the number of its record.
    pub places: HashMap<[i32; 3], (usize, u32, Record)>,
    /// Regions whose file cannot be read, and why.
    pub faults: Vec<([i32; 3], Error)>,
    /// The shape of the first chunk that has one.
    shape: OnceLock<Option<Shape>>,
    /// The order of voxels in each file.
    orders: Vec<OnceLock<Order>>,
}

impl Chunks {
    /// Reads the records of all files.
    pub fn read(save: &Save, dir: &PakDir) -> Self {
        let orders = dir.files.iter().map(|_| OnceLock::new()).collect();
        let mut chunks = Self { places: HashMap::new(), faults: Vec::new(), shape: OnceLock::new(), orders };
        for (number, file) in dir.files.iter().enumerate() {
            let name = save.shown(&dir.dir.join(&file.name));
            let mut damage = Vec::new();
            let why = match save.pak(dir, file, &mut damage) {
                Ok(Some(pak)) => {
                    let located = pak.grid.is_some() || pak.present().next().is_none();
                    for (record, stored) in pak.present() {
                        if let Some(position) = pak.chunk(record) {
                            chunks.places.entry(position).or_insert((number, record, stored));
                        }
                    }
                    let grave = pak.damage.iter().find(|d| d.code.level() >= Level::Error);
                    let unlocated = "its chunks have numbers and no positions";
                    grave.map(ToString::to_string).or_else(|| (!located).then(|| unlocated.to_owned()))
                }
                Ok(None) => Some(damage.first().map_or_else(|| "it has no header".to_owned(), ToString::to_string)),
                Err(error) => Some(error.to_string()),
            };
            chunks.faults.extend(why.map(|why| (file.region, Error::Read(name, why))));
        }
        chunks
    }

    /// The order of the voxels of chunks of a file.
    pub fn order(&self, file: usize, pak: &Pak<FileSource>, shape: &Shape) -> Order {
        let order = || pak.order(shape).value;
        self.orders.get(file).map_or_else(order, |known| *known.get_or_init(order))
    }

    /// The shape of chunks; `None` where no chunk says it.
    pub fn shape(&self, save: &Save) -> Option<Shape> {
        *self.shape.get_or_init(|| {
            let mut places: Vec<_> = self.places.values().collect();
            places.sort_unstable_by_key(|(file, number, _)| (*file, *number));
            let mut scratch = PakScratch::default();
            places.iter().take(PROBES).find_map(|(file, number, record)| {
                let dir = save.pak_dirs.first()?;
                let pak = save.pak(dir, dir.files.get(*file)?, &mut Vec::new()).ok()??;
                pak.view(*number, *record, &mut scratch).ok()?.shape.map(|shape| shape.value)
            })
        })
    }
}
