//! Saves of `VoxelStreamBlockFiles` in the forms of 2019, 2020 and 2022, opened from the disk as a whole.

use arbitrary::{Result, Unstructured};
use voxscope::check;
use voxscope::damage::{Code, Value};
use voxscope::godot::block::BlockLayout;
use voxscope::godot::block_files::{Meta, encode_block_file, name_of};
use voxscope::godot::channel::{CHANNELS, Depth};
use voxscope::godot::container::Mode;
use voxscope::save::{self, Options, Scratch};
use voxscope::world::World;

use super::block::Plain;
use super::container::packed;
use super::{Kind, Model, Seen};
use crate::oracles::block_files::{self as raw, Files};
use crate::oracles::{disk, limits};

/// A save of block files.
#[derive(Debug)]
pub struct BlockFiles {
    pub(super) form: Form,
    pub(super) lods: u8,
    pub(super) po2: u8,
    pub(super) depths: [Depth; CHANNELS],
    pub(super) blocks: Vec<File>,
}

/// What a meta file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The block size as three numbers.
    Of2019,
    /// The block size, and no depths.
    Of2020,
    /// The block size and the depths.
    Of2022,
}

/// The file of a block.
#[derive(Clone, Debug)]
pub struct File {
    pub(super) lod: u8,
    pub(super) position: [i32; 3],
    pub(super) mode: Mode,
    pub(super) plain: Plain,
    pub(super) container: Vec<u8>,
}

impl File {
    pub(super) fn path(&self) -> String {
        let [x, y, z] = self.position;
        format!("blocks/lod{}/{x:+}{y:+}{z:+}.vxb", self.lod)
    }

    /// The whole file around a container.
    pub(super) fn around(container: &[u8]) -> Vec<u8> {
        [b"VXB_\x01".as_slice(), &(container.len() as u32).to_le_bytes(), container].concat()
    }
}

impl BlockFiles {
    fn layout(&self) -> BlockLayout {
        BlockLayout { size: [1 << self.po2; 3], depths: self.depths }
    }

    fn meta(&self) -> Vec<u8> {
        let mut out = b"VXBM\x01".to_vec();
        out.push(self.lods);
        match self.form {
            Form::Of2019 => (0..3).for_each(|_| out.extend((1u32 << self.po2).to_le_bytes())),
            Form::Of2020 => out.push(self.po2),
            Form::Of2022 => {
                out.push(self.po2);
                out.extend(self.depths.map(Depth::code));
            }
        }
        out
    }

    pub(super) fn files(&self) -> Files {
        let blocks = self.blocks.iter().map(|file| (file.path().into_bytes(), File::around(&file.container)));
        Files { meta: Some(self.meta()), blocks: blocks.collect() }
    }
}

/// Writes the files of a model and opens them as a save.
fn open<T>(bytes: &[u8], then: impl FnOnce(&save::Save) -> T) -> T {
    // What an input that failed left behind.
    disk::clean();
    let dir = disk::directory("save");
    let files = Files::parse(bytes);
    if let Some(meta) = &files.meta {
        disk::write(&dir, "meta.vxbm", meta);
    }
    for (path, file) in &files.blocks {
        disk::write(&dir, String::from_utf8_lossy(path).as_ref(), file);
    }
    let save = save::Save::open(&dir, &Options::default().limits(limits()));
    let save = save.unwrap_or_else(|error| panic!("the save is not found: {error}"));
    let result = then(&save);
    disk::clean();
    result
}

impl Model for BlockFiles {
    fn make(u: &mut Unstructured<'_>) -> Result<Self> {
        let (bits, lods, version, codes): (u8, u8, u8, u16) = u.arbitrary()?;
        let form = [Form::Of2019, Form::Of2020, Form::Of2022, Form::Of2022][usize::from(bits & 3)];
        let depths = std::array::from_fn(|i| Depth::ALL[usize::from(codes >> (2 * i) & 3)]);
        let mut save = Self {
            form,
            lods: 1 + lods % 32,
            po2: 1 + (bits >> 2 & 1),
            depths: if form == Form::Of2022 { depths } else { [Depth::Bits8; CHANNELS] },
            blocks: Vec::new(),
        };
        let layout = save.layout();
        for _ in 0..u.arbitrary::<u8>()? % 4 {
            let (lod, mode, position): (u8, u8, [i16; 3]) = u.arbitrary()?;
            let plain = Plain::make(u, 1 + version % 4, &layout)?;
            let (lod, position) = (lod % save.lods, position.map(i32::from));
            if save.blocks.iter().any(|file| (file.lod, file.position) == (lod, position)) {
                continue;
            }
            let mode = Mode::ALL[usize::from(mode) % Mode::ALL.len()];
            let container = packed(mode, &plain.written.bytes);
            save.blocks.push(File { lod, position, mode, plain, container });
        }
        Ok(save)
    }

    fn bytes(&self) -> Vec<u8> {
        self.files().join()
    }

    fn look(&self, bytes: &[u8]) -> Vec<Seen> {
        open(bytes, |save| {
            let mut seen = Vec::new();
            check::run(save, &check::Options::default(), |finding| seen.push(Seen::from(&finding)));
            // A model has blocks in any LODs, so that it stays small: those between them are no damage of it.
            seen.retain(|seen| seen.damage.code != Code::LodGap);
            seen
        })
    }

    /// The library writes the same files, and each block is at its position.
    fn compare(&self, bytes: &[u8]) {
        if self.form == Form::Of2022 {
            assert_eq!(Meta::new(self.lods, self.po2, self.depths).encode(), self.meta(), "another meta file");
        }
        for file in &self.blocks {
            assert_eq!(encode_block_file(&file.container), Some(File::around(&file.container)), "another file");
            assert!(file.path().ends_with(&format!("/{}", name_of(file.position))), "{}", file.path());
        }
        open(bytes, |save| self.compare_opened(save));
        raw::check(bytes);
    }

    fn any(&self, bytes: &[u8]) {
        raw::check(bytes);
    }

    fn kinds() -> &'static [Kind<Self>] {
        &super::block_files_kinds::ALL
    }
}

impl BlockFiles {
    fn compare_opened(&self, save: &save::Save) {
        let [forest] = &save.forests[..] else { panic!("{} forests", save.forests.len()) };
        assert_eq!(forest.format.map(|format| format.layout()), Some(self.layout()), "another layout");
        assert_eq!(forest.regions.len(), self.blocks.len(), "other files");
        let missing = save.faults.iter().filter(|fault| fault.damage.code == Code::LodMissing);
        let missing: Vec<_> = missing.map(|fault| fault.damage.found).collect();
        let without = (0..self.lods).filter(|lod| self.blocks.iter().all(|file| file.lod != *lod));
        let without: Vec<_> = without.map(|lod| Value::Number(lod.into())).collect();
        assert_eq!(missing, without, "missing LODs");
        let world = World::of_forest(save, forest);
        let mut scratch = Scratch::default();
        for file in &self.blocks {
            let is_at = |at: &voxscope::world::At| at.position == file.position;
            assert!(world.index(file.lod).blocks.iter().any(is_at), "no block at {:?}", file.position);
            let here = |region: &&save::RegionFile| (region.lod, region.position) == (file.lod, file.position);
            let found = forest.regions.iter().find(here).unwrap_or_else(|| panic!("no file of {}", file.path()));
            let Ok(Some(region)) = save.region(forest, found) else { panic!("{} has no block", file.path()) };
            let Ok(view) = region.view(region.entries[0].entry, &mut scratch) else {
                unreachable!("the disk does not fail")
            };
            let plain = view.container.map_or(&[][..], |container| container.plain);
            assert!(plain == file.plain.written.bytes, "{} holds something else", file.path());
        }
    }
}
