//! Lists what a repair of a save would do, without writing anything: `cargo run --example plan_repair -- SAVE`.

use std::error::Error;
use std::path::PathBuf;

use voxscope::repair;
use voxscope::save::{self, Save};

fn main() -> Result<(), Box<dyn Error>> {
    let path = PathBuf::from(std::env::args_os().nth(1).ok_or("usage: plan_repair SAVE")?);
    let save = Save::open(&path, &save::Options::default())?;
    let plan = repair::plan(&save, &repair::Options::default())?;
    if plan.changes_nothing() {
        println!("nothing to repair");
    }
    for region in &plan.regions {
        println!("{}: {} ({})", region.name.display(), region.action.name(), region.why);
        for block in &region.blocks {
            println!("  block {:?} from sector {}, probability {:.4}", block.position, block.sector, block.probability);
        }
        println!("  {} blocks go to lost+found, {} stay missing", region.lost.len(), region.missing.len());
    }
    for stream in &plan.streams {
        println!("{}: {} ({})", stream.name.display(), stream.action.name(), stream.why);
    }
    Ok(())
}
