//! What an export leaves out of a directory of several saves: it is named on standard error, and the exit code says so.

use std::path::{Path, PathBuf};

use voxscope::check::{self, SaveArguments};
use voxscope::export;
use voxscope::printable::{are, count};
use voxscope::save::{Forest, Save};

use crate::cli::exit::Exit;
use crate::cli::output::{complain, complain_of_left_out, complain_of_others, complain_of_parts};

/// Names the pak regions and voxel maps beside worlds.
pub(super) fn others(save: &Save) -> Exit {
    complain_of_others(save, "pak regions and voxel maps are exported by themselves")
}

/// Names the files of forests whose tables are empty although whole blocks follow them.
pub(super) fn unlisted_blocks<'f>(save: &Save, forests: impl IntoIterator<Item = &'f Forest>) -> Exit {
    let of_forest = |forest| complain_of_parts(&check::unlisted_blocks_of(save, forest));
    forests.into_iter().map(of_forest).fold(Exit::CLEAN, Exit::and)
}

/// Names the voxel maps beside pak regions.
pub(super) fn maps(save: &Save) -> Exit {
    let maps = save.maps.iter().map(|map| map.dir.as_path());
    complain_of_left_out(save, maps, "a voxel map is exported layer by layer, by --layer")
}

/// Names everything beside the voxel map that has the layer.
pub(super) fn all_but_map(save: &Save, layer: &str) -> Exit {
    let worlds = save.forests.iter().map(|forest| &forest.dir).chain(save.streams.iter().map(|stream| &stream.path));
    let others = worlds.chain(save.pak_dirs.iter().map(|dir| &dir.dir)).map(PathBuf::as_path);
    let exit = complain_of_left_out(save, others, "left out: --layer exports a layer of a voxel map only");
    let exported = export::map_of_layer(save, layer);
    let maps = save.maps.iter().map(|map| map.dir.as_path()).filter(|dir| Some(*dir) != exported.as_deref());
    exit.and(complain_of_left_out(save, maps, "left out: --layer exports one layer of one voxel map"))
}

/// Names how many blocks of a picture the drawn repair loses; `given` is the path that the user gave.
pub(super) fn lost_blocks(save: &Save, given: &Path, lost: u64) -> Exit {
    if lost > 0 {
        let (blocks, are) = (count(lost, "block"), are(lost));
        let command = SaveArguments::new(save).at(given).repair_command();
        complain(&format_args!(
            "{blocks} of the drawn part {are} missing after this repair: `{command} --plan` lists the positions"
        ));
    }
    Exit::DAMAGED.when(lost > 0)
}

/// The result of a complete export, with the exit code for what it leaves out.
pub(super) fn and((line, exit): (String, Exit), left_out: Exit) -> (String, Exit) {
    (line, exit.and(left_out))
}
