//! Writing an SQLite stream, as the engine lays one out.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::convert::before::Before;
use crate::convert::groups::{has_holes, list_in_groups, units};
use crate::convert::make::{Made, Maker};
use crate::convert::report::{Kind, Report};
use crate::convert::{Error, OutputLayout, Work};
use crate::draft::{self, Draft};
use crate::godot::stream::loc::{Format, Place};
use crate::godot::stream::write as stream;
use crate::resize::Fill;
use crate::watch::Step;
use crate::world::{Buffer, World};

/// The database in the directory that is being built.
pub(super) const NAME: &str = "stream";

/// Number of source blocks that are read before the converted blocks are written.
const BLOCKS: usize = 1024;

/// The default key format: that of the source, or integers if they fit.
pub(super) fn keys(world: &World<'_>, layout: &OutputLayout) -> Format {
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

/// Writes the database; returns its path.
pub(super) fn write(work: &Work<'_>, draft: &Draft<'_>, report: &mut Report) -> Result<PathBuf, Error> {
    let (file, path) = draft.create(Path::new(NAME))?;
    let keys = work.layout.keys.unwrap_or(Format::Int19);
    let before = Before::read(work, report);
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
    stream::mark_rule(&database, keys, ["loc", "vb"]).map_err(&failed)?;
    stream::finish(database, &file).map_err(draft::Error::write(&path))?;
    Ok(path)
}

fn failed(path: &Path) -> impl Fn(rusqlite::Error) -> Error + '_ {
    |error| draft::Error::write(path)(std::io::Error::other(error)).into()
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
        let sources = list_in_groups(work, &index, report);
        let fill =
            if has_holes(work, &sources) { Fill::measure(work.world, &index, work.watch) } else { Fill::default() };
        let bare = index.bare;
        drop(index.blocks);
        let maker = Maker { work, lod, fill: &fill, before: self.before, window: BLOCKS };
        work.watch.begin(Step::Converting, sources.len() as u64);
        let mut insert = stream::insert(database).map_err(failed)?;
        let mut sink = |Made { position, container, instances, .. }: Made, report: &mut Report| {
            let Some(key) = self.keys.encode(Place { lod, position }) else {
                report.written -= 1;
                report.list(Kind::TooLarge, lod, position, "its position does not fit the keys".to_owned());
                return Ok(());
            };
            stream::put(&mut insert, &key, Some(&container), instances.as_deref()).map_err(failed)
        };
        maker.make_all(&units(work, &sources), draft, &|_| true, report, &mut sink)?;
        let mut buffer = Buffer::default();
        let mut insert_instances = stream::insert_instances(database).map_err(failed)?;
        for at in &bare {
            work.world.fetch(at, &mut buffer)?;
            let key = self.keys.encode(Place { lod, position: at.position });
            match (key, maker.instances(at, &mut buffer, report)) {
                (Some(key), Some(bytes)) => {
                    stream::put_instances(&mut insert_instances, &key, &bytes).map_err(failed)?;
                }
                (None, Some(_)) => {
                    let why = "their position does not fit the keys".to_owned();
                    report.list(Kind::Instances, lod, at.position, why);
                }
                // They are listed in the report.
                (_, None) => {}
            }
        }
        Ok(())
    }
}
