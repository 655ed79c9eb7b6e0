//! Writing an SQLite stream, as the engine lays one out.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::beside::{self, Draft, stream};
use crate::convert::before::Before;
use crate::convert::groups::{all, has_holes, units};
use crate::convert::make::{Made, Maker};
use crate::convert::report::{Kind, Report};
use crate::convert::{Error, Layout, Work};
use crate::godot::stream::loc::{Format, Place};
use crate::resize::Fill;
use crate::world::{Buffer, World};

/// The database in the directory that is being built.
pub(super) const NAME: &str = "stream";

/// Blocks of the source that are read before what came of them is written.
const BLOCKS: usize = 1024;

/// How positions are written where nothing is asked for: as in the source, or by numbers, where they do.
pub(super) fn keys(world: &World<'_>, layout: &Layout) -> Format {
    let [low, high] = Format::Int19.range();
    let [from, to] = [layout.from, layout.to].map(i64::from);
    let fits = |position: [i32; 3]| {
        let ends = position.map(|n| [i64::from(n) * from, (i64::from(n) + 1) * from - 1]);
        ends.iter().flatten().all(|n| (i64::from(low)..=i64::from(high)).contains(&n.div_euclid(to)))
    };
    let all_fit =
        || world.lods().iter().all(|&lod| world.index(lod).extent().is_none_or(|ends| ends.into_iter().all(fits)));
    world
        .keys()
        .filter(|_| layout.from == layout.to)
        .unwrap_or_else(|| if all_fit() { Format::Int19 } else { Format::Text })
}

/// Writes the database; gives its path.
pub(super) fn write(work: &Work<'_>, draft: &Draft<'_>, report: &mut Report) -> Result<PathBuf, Error> {
    let (file, path) = draft.create(Path::new(NAME))?;
    let keys = work.layout.keys.unwrap_or(Format::Int19);
    let before = Before::of(work);
    let mut writing = Writing { work, keys, lod: 0, before: &before };
    let for_errors = path.clone();
    let failed = failed(&for_errors);
    let database = stream::begin(&path, None).map_err(&failed)?;
    let settings = stream::Settings { version: 1, block_size_po2: work.layout.to.trailing_zeros() as u8, format: keys };
    stream::make_tables(&database, &settings, &work.layout.depths).map_err(&failed)?;
    for lod in work.world.lods() {
        writing.lod = lod;
        writing.lod(draft, &database, report, &failed)?;
    }
    stream::finish(database, &file).map_err(beside::Error::write(&path))?;
    Ok(path)
}

fn failed(path: &Path) -> impl Fn(rusqlite::Error) -> Error + '_ {
    |error| beside::Error::write(path)(std::io::Error::other(error)).into()
}

struct Writing<'w> {
    work: &'w Work<'w>,
    keys: Format,
    lod: u8,
    before: &'w Before,
}

impl Writing<'_> {
    fn lod(
        &self,
        draft: &Draft<'_>,
        database: &Connection,
        report: &mut Report,
        failed: &impl Fn(rusqlite::Error) -> Error,
    ) -> Result<(), Error> {
        let (work, lod) = (self.work, self.lod);
        let index = work.world.index(lod);
        report.index(&index);
        let sources = all(work, &index, report);
        let fill =
            if has_holes(work, &sources) { Fill::of(work.world, &index, &|| work.stopped()) } else { Fill::default() };
        let bare = index.bare;
        drop(index.blocks);
        let maker = Maker { work, lod, fill: &fill, before: self.before, window: BLOCKS };
        let (mut done, total) = (0, sources.len() as u64);
        let mut insert = stream::insert(database).map_err(failed)?;
        let mut sink = |Made { position, container, instances, .. }: Made, report: &mut Report| {
            let Some(key) = self.keys.encode(Place { lod, position }) else {
                report.written -= 1;
                report.list(Kind::TooLarge, lod, position, "its position does not fit the keys".to_owned());
                return Ok(());
            };
            stream::put(&mut insert, &key, Some(&container), instances.as_deref()).map_err(failed)
        };
        let mut progress = |read| {
            done += read;
            if let Some(progress) = work.options.progress {
                progress(done, total);
            }
        };
        maker.all(&units(work, &sources), draft, &|_| true, report, &mut sink, &mut progress)?;
        let mut buffer = Buffer::default();
        for at in &bare {
            work.world.fetch(at, &mut buffer)?;
            let key = self.keys.encode(Place { lod, position: at.position });
            match (key, maker.instances(at, &mut buffer, report)) {
                (Some(key), Some(bytes)) => {
                    stream::put(&mut insert, &key, None, Some(&bytes)).map_err(failed)?;
                }
                (None, Some(_)) => {
                    let why = "their position does not fit the keys".to_owned();
                    report.list(Kind::Instances, lod, at.position, why);
                }
                // They are listed.
                (_, None) => {}
            }
        }
        Ok(())
    }
}
