//! Saves of `VoxelStreamBlockFiles`: every block is a file of its own, so each file is copied or set aside. A meta file that is
//! missing or not valid is written anew if the blocks say their layout.

use crate::damage::Code;
use crate::godot::block_files::Meta;
use crate::repair::decision::{Action, UNKNOWN_LAYOUT, simple};
use crate::repair::out::below;
use crate::repair::{Error, MetaFile, Options, Plan};
use crate::save::{Forest, RegionFile, Save, Scratch};
use crate::{draft, save};

/// Plans the files of one save of block files.
pub(super) fn plan(save: &Save, forest: &Forest, options: &Options<'_>, plan: &mut Plan) -> Result<(), Error> {
    let mut scratch = Scratch::default();
    for file in &forest.regions {
        options.go_on()?;
        let (action, why) = look(save, forest, file, &mut scratch)?;
        plan.regions.push(simple(save, forest, &file.name, file.lod, action, why));
    }
    let Some(name) = forest.kind.meta_name().map(|name| forest.dir.join(name)) else { return Ok(()) };
    let is_wrong = |code| matches!(code, Code::BlockFilesMeta | Code::NotAFile | Code::LinkSkipped);
    let wrong = save.faults.iter().any(|fault| fault.path == name && is_wrong(fault.damage.code));
    if let (true, Some(format)) = (wrong, forest.format) {
        let highest = forest.regions.iter().map(|file| file.lod).max().unwrap_or(0);
        let meta = Meta::new(highest.saturating_add(1), format.block_size_po2, format.depths);
        plan.metas.push(MetaFile {
            name: below(&save.path, &name),
            bytes: meta.encode(),
            from: "written anew from the blocks",
            old: std::fs::symlink_metadata(&name).is_ok_and(|data| data.is_file()),
        });
    }
    Ok(())
}

/// What is done with a file, and why.
fn look(
    save: &Save,
    forest: &Forest,
    file: &RegionFile,
    scratch: &mut Scratch,
) -> Result<(Action, &'static str), Error> {
    const UNREADABLE: (Action, &str) = (Action::SetAside, "its block cannot be read");
    let path = forest.dir.join(&file.name);
    let open = |source| Error::Build(draft::Error::Open { path: path.clone(), source });
    let Some(region) = save.region(forest, file).map_err(open)? else { return Ok(UNREADABLE) };
    let Some(listed) = region.entries.first() else { return Ok(UNREADABLE) };
    let view: save::View<'_> = region.view(listed.entry, scratch).map_err(draft::Error::read(&path))?;
    Ok(match () {
        () if view.is_readable() => (Action::Copy, "healthy"),
        () if view.damage.iter().any(|damage| damage.code == Code::RegionFormatUnknown) => {
            (Action::Copy, UNKNOWN_LAYOUT)
        }
        () => UNREADABLE,
    })
}
