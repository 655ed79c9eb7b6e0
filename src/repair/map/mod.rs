//! Plans the repair of voxel maps: each is copied, or its description and its arrays are corrected as far as possible.
//!
//! The arrays correct the description, and the description corrects the header of an array; see
//! [`recover::map`](crate::recover::map). Odd flags and depths of voxels are data and are copied unchanged.

mod layer;
mod report;
mod write;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use crate::damage::Code;
use crate::draft;
use crate::limits::BYTE_ORDER_MARK;
use crate::recover::map::text;
use crate::repair::out::below;
use crate::repair::{Action, Error, Options};
use crate::save::Save;
use crate::source::Source;
use crate::voxel_map::Map;
use crate::voxel_map::map_json::{FILE_NAME, Layer, MapData, plain_name};
use crate::voxel_map::npy::Npy;

pub(super) use report::{reports, words};
pub(super) use write::{as_written, write, write_lost};

/// An array that is written anew.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ArrayPlan {
    /// The name of its file.
    pub name: String,
    /// How it is read.
    pub source: Npy,
    /// The rows (of the first dimension) that are kept, in runs, when not all are.
    pub keep: Option<Vec<std::ops::Range<u64>>>,
    /// Whether its header is written anew although all rows are kept.
    pub new_header: bool,
    /// Numbers that are filled with 0 at the end.
    pub fill: u64,
}

/// A block that is taken out of a layer.
#[derive(Clone, Debug, PartialEq)]
pub struct TakenOut {
    /// Its row in the index or the data.
    pub row: u64,
    /// Its coordinates; `None` where the index has none for it.
    pub block: Option<[i32; 3]>,
    /// Why.
    pub why: &'static str,
    /// Whether its voxels are there, so that they go to `lost+found`.
    pub voxels: bool,
}

/// What is done with a layer that is not left as it is.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct LayerPlan {
    /// Its number: `global` is 0 where there is one, and then `locals` in their order.
    pub number: usize,
    /// Its name.
    pub name: String,
    /// Why it is left out of the description, if it is.
    pub left_out: Option<&'static str>,
    /// Why nothing of it can be put right, if it is left as it is although it cannot be read: the global layer.
    pub stays: Option<&'static str>,
    /// Fields of the description that are put right, and what they become.
    pub fields: Vec<(&'static str, Json)>,
    /// What is put right or lost in its arrays: the file, and what, in words.
    pub notes: Vec<(String, String)>,
    /// Its arrays that are written anew.
    pub arrays: Vec<ArrayPlan>,
    /// Blocks that are taken out of it.
    pub taken_out: Vec<TakenOut>,
    /// Whether it goes without the depths that it had.
    pub loses_depths: bool,
    /// Files that it no longer names.
    pub given_up: Vec<String>,
    /// Numbers of its arrays that are lost.
    pub lost_numbers: u64,
}

/// What is done with a voxel map.
#[derive(Debug)]
#[non_exhaustive]
pub struct MapPlan {
    /// Its directory below the save.
    pub name: PathBuf,
    /// Its directory.
    pub dir: PathBuf,
    /// The action.
    pub action: Action,
    /// Why, in words.
    pub why: &'static str,
    /// The layers that are not left as they are.
    pub layers: Vec<LayerPlan>,
    /// The description, when it is written anew.
    pub description: Option<Vec<u8>>,
    /// Names of files that go to `lost+found` as they are.
    pub aside: Vec<String>,
    /// Layers that only their arrays show: the description ends before it names them.
    pub unnamed: usize,
    /// Files of the save that are not simply copied, below the save.
    pub handled: Vec<PathBuf>,
}

impl MapPlan {
    /// Whether something could not be recovered.
    #[must_use]
    pub fn leaves_damage(&self) -> bool {
        let lost = |layer: &LayerPlan| {
            layer.left_out.is_some()
                || layer.stays.is_some()
                || layer.lost_numbers > 0
                || !layer.given_up.is_empty()
                || layer.taken_out.iter().any(|t| t.voxels)
        };
        self.action == Action::SetAside || self.unnamed > 0 || self.layers.iter().any(lost)
    }
}

/// Reads the voxel maps of a save and decides what is done with each.
pub(super) fn plan(save: &Save, options: &Options<'_>) -> Result<Vec<MapPlan>, Error> {
    save.maps.iter().map(|map| one(save, map, options)).collect()
}

fn one(save: &Save, map: &Map, options: &Options<'_>) -> Result<MapPlan, Error> {
    options.go_on()?;
    let mut plan = MapPlan {
        name: if map.dir == save.path { PathBuf::new() } else { below(&save.path, &map.dir) },
        dir: map.dir.clone(),
        action: Action::Copy,
        why: "healthy",
        layers: Vec::new(),
        description: None,
        aside: Vec::new(),
        unnamed: 0,
        handled: Vec::new(),
    };
    if map.damage.iter().any(|d| d.code == Code::OverLimit) {
        plan.why = "its description is too large to be read";
        return Ok(plan);
    }
    let path = map.dir.join(FILE_NAME);
    let bytes = whole(&path, save.options.limits.map_json_bytes)?;
    let (mut description, read) = match &map.data {
        Some(data) => (parsed(&bytes), Some(data.clone())),
        None => {
            let json = text::recover(&bytes);
            (json.clone(), json.as_ref().and_then(text::data))
        }
    };
    let (Some(description), Some(data)) = (&mut description, read) else {
        set_aside(&mut plan, "nothing shows what its layers are");
        return Ok(plan);
    };
    let damaged = map.data.is_none();
    let mut layers = Vec::new();
    for (number, of) in data.layers().enumerate() {
        options.go_on()?;
        layers.push(layer::plan(&map.dir, of, number, damaged, &save.options.limits, options)?);
    }
    agree(&data, &mut layers);
    let global = data.global.is_some().then(|| layers.first().and_then(|layer| layer.left_out)).flatten();
    match (global, layers.first_mut()) {
        // The description that is written would name what nothing shows.
        (Some(why), _) if damaged => {
            set_aside(&mut plan, why);
            plan.layers = layers.into_iter().filter(|l| l.number == 0).collect();
            return Ok(plan);
        }
        // A map has a global layer, so the other layers need it in the description.
        (Some(why), Some(first)) => {
            let LayerPlan { number, name, notes, .. } = std::mem::take(first);
            *first = LayerPlan { number, name, notes, stays: Some(why), ..LayerPlan::default() };
        }
        _ => {}
    }
    let changes_nothing = layers.iter().all(LayerPlan::changes_nothing);
    plan.layers = layers.into_iter().filter(|layer| layer.stays.is_some() || !layer.changes_nothing()).collect();
    if !damaged && changes_nothing {
        return Ok(plan);
    }
    plan.action = Action::Rebuild;
    plan.why = if damaged { "its description is damaged" } else { "its description and its arrays disagree" };
    if damaged || plan.layers.iter().any(|l| l.left_out.is_some() || !l.fields.is_empty()) {
        mend(description, data.global.is_some(), &plan.layers);
        plan.description = serde_json::to_vec_pretty(description).ok();
    }
    plan.aside = given_up(&map.dir, &data, &plan.layers, damaged);
    plan.unnamed = unnamed(&data, &plan.aside);
    let written =
        plan.layers.iter().filter(|l| l.left_out.is_none()).flat_map(|l| l.arrays.iter().map(|a| a.name.clone()));
    let mut handled: BTreeSet<String> = written.chain(plan.aside.iter().cloned()).collect();
    if plan.description.is_some() {
        handled.insert(FILE_NAME.to_owned());
    }
    plan.handled = handled.into_iter().map(|name| plan.name.join(name)).collect();
    Ok(plan)
}

impl LayerPlan {
    fn changes_nothing(&self) -> bool {
        self.left_out.is_none() && self.fields.is_empty() && self.arrays.is_empty() && self.given_up.is_empty()
    }
}

fn parsed(bytes: &[u8]) -> Option<Json> {
    serde_json::from_slice(bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes)).ok()
}

fn whole(path: &Path, limit: u64) -> Result<Vec<u8>, draft::Error> {
    let source = draft::open(path)?;
    let mut bytes = Vec::new();
    source.read_into(0, crate::bytes::index(source.len().min(limit)), &mut bytes).map_err(draft::Error::read(path))?;
    Ok(bytes)
}

/// Everything goes to `lost+found`: the description and all arrays of the directory.
fn set_aside(plan: &mut MapPlan, why: &'static str) {
    plan.action = Action::SetAside;
    plan.why = why;
    plan.aside = arrays_in(&plan.dir).into_iter().collect();
    plan.aside.insert(0, FILE_NAME.to_owned());
    plan.handled = plan.aside.iter().map(|name| plan.name.join(name)).collect();
}

/// The names of all arrays in a directory.
fn arrays_in(dir: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().filter_map(Result::ok);
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.ends_with(".npy"))
        .collect()
}

/// The files that a layer names.
fn files(layer: &Layer) -> impl Iterator<Item = &String> {
    [&layer.data_file, &layer.index_file, &layer.depth_file]
        .into_iter()
        .flatten()
        .filter(|name| plain_name(name).is_ok())
}

/// Layers may share files. A layer that needs another version of a file than an earlier layer does is left out.
fn agree(data: &MapData, layers: &mut [LayerPlan]) {
    let mut taken: BTreeMap<&String, Option<ArrayPlan>> = BTreeMap::new();
    for (of, plan) in data.layers().zip(layers.iter_mut()) {
        if plan.left_out.is_some() {
            continue;
        }
        let named: Vec<&String> = files(of).filter(|name| !plan.given_up.contains(name)).collect();
        let wanted = |name: &String| plan.arrays.iter().find(|array| array.name == *name).cloned();
        if named.iter().any(|name| taken.get(*name).is_some_and(|other| *other != wanted(name))) {
            plan.left_out = Some("another layer has the same array and needs it otherwise");
            continue;
        }
        for name in named {
            taken.insert(name, wanted(name));
        }
    }
}

/// The arrays that no layer names any more; if the description was damaged, all arrays that no layer names.
fn given_up(dir: &Path, data: &MapData, layers: &[LayerPlan], damaged: bool) -> Vec<String> {
    let there = arrays_in(dir);
    let plan_of = |number: usize| layers.iter().find(|layer| layer.number == number);
    let mut kept = BTreeSet::new();
    let mut lost = BTreeSet::new();
    for (number, of) in data.layers().enumerate() {
        for name in files(of) {
            let gone = plan_of(number).is_some_and(|p| p.left_out.is_some() || p.given_up.contains(name));
            if gone { &mut lost } else { &mut kept }.insert(name.clone());
        }
    }
    if damaged {
        lost.extend(there.iter().cloned());
    }
    let is_file = |name: &String| std::fs::symlink_metadata(dir.join(name)).is_ok_and(|m| m.is_file());
    lost.into_iter().filter(|name| !kept.contains(name) && name != FILE_NAME && is_file(name)).collect()
}

/// How many arrays with the voxels of a layer there are among files that no layer names.
fn unnamed(data: &MapData, aside: &[String]) -> usize {
    let named: BTreeSet<&String> = data.layers().flat_map(files).collect();
    // As the exporter calls them.
    let has_voxels = |name: &&String| !name.ends_with("_index.npy") && !name.ends_with("_depth.npy");
    aside.iter().filter(|name| !named.contains(name)).filter(has_voxels).count()
}

/// Corrects fields of the description; everything else in it stays unchanged.
fn mend(description: &mut Json, has_global: bool, layers: &[LayerPlan]) {
    let Some(root) = description.as_object_mut() else { return };
    for layer in layers.iter().rev() {
        let local = layer.number.checked_sub(usize::from(has_global));
        let locals = root.get_mut("locals").and_then(Json::as_array_mut);
        if layer.left_out.is_some() {
            if let (Some(locals), Some(at)) = (locals, local.filter(|_| layer.left_out.is_some()))
                && at < locals.len()
            {
                locals.remove(at);
            }
            continue;
        }
        let object = match local {
            Some(at) => locals.and_then(|locals| locals.get_mut(at)),
            None => root.get_mut("global"),
        };
        let Some(object) = object.and_then(Json::as_object_mut) else { continue };
        for (field, value) in &layer.fields {
            object.insert((*field).to_owned(), value.clone());
        }
    }
}
