//! What a repair leaves: files that were not read, and findings of files that it copies as they are.

use std::collections::HashSet;

use crate::check::Finding;
use crate::damage::{self, Code};
use crate::repair::{Action, MapPlan, PakPlan, Plan, RegionPlan};
use crate::save::{Fault, Save};

/// What of a save was not read, and is neither in the copy of a repair nor in its `lost+found`.
pub fn uncopied(save: &Save) -> impl Iterator<Item = &Fault> {
    save.unread().filter(|fault| !fault.is_misnamed())
}

/// The printable names of the files that a plan does not copy as they are.
fn changed_files(save: &Save, plan: &Plan) -> HashSet<String> {
    let regions = plan.regions.iter().filter(|region| !RegionPlan::is_unchanged(region)).map(|region| &region.path);
    let paks = plan.paks.iter().filter(|pak| !PakPlan::is_unchanged(pak)).map(|pak| &pak.path);
    let streams = plan.streams.iter().filter(|stream| stream.action != Action::Copy).map(|stream| &stream.path);
    let whole = regions.chain(paks).chain(streams).map(|path| save.shown(path));
    let handled = plan.maps.iter().flat_map(|map: &MapPlan| &map.handled);
    let metas = plan.metas.iter().map(|meta| &meta.name);
    let below = handled.chain(metas).chain(&plan.strange).chain(&plan.no_files);
    whole.chain(below.map(|name| save.shown(&save.path.join(name)))).collect()
}

/// A test of findings of a save: whether a copy by this plan has them too. They are errors and warnings of files that are
/// copied as they are; findings about files that cannot be read are not among them.
pub(super) fn stays<'p>(save: &'p Save, plan: &Plan) -> impl Fn(&Finding) -> bool + Sync + use<'p> {
    let changed = changed_files(save, plan);
    // What disagrees with a meta file agrees with the one that is written.
    let metas = !plan.metas.is_empty();
    move |finding| {
        let path = if save.path.is_file() { save.path.clone() } else { save.path.join(&*finding.file) };
        let is_settled = metas && finding.code() == Code::MetaDiffers;
        finding.level() != damage::Level::Note
            && !is_settled
            && !finding.code().is_unread()
            && !changed.contains(&*finding.file)
            && path.is_file()
    }
}
