//! Meta files of forests, as text in any order and spacing that JSON allows.

use std::collections::BTreeSet;

use arbitrary::{Result, Unstructured};
use voxscope::bytes::Span;
use voxscope::damage::{Code, Space, Value};
use voxscope::godot::channel::Depth;
use voxscope::godot::forest::{MAX_LODS, Meta};
use voxscope::save::{Options, Save};

use super::{Case, Dice, Kind, Model, Place, Seen};
use crate::oracles::{disk, forest as raw, limits};

/// A meta file: its fields with the text of their values, in their order.
#[derive(Debug)]
pub struct Forest {
    version: u8,
    sizes: [u8; 2],
    sector_size: u16,
    depths: [u8; 8],
    lods: Option<u8>,
    fields: Vec<(&'static str, String)>,
    space: &'static str,
    /// Whether the directories of LODs are where the Rust port has them.
    port: bool,
    /// LODs that have a region file.
    saved: [u8; 3],
}

impl Forest {
    fn text(&self, fields: &[(&str, String)]) -> Vec<u8> {
        let s = self.space;
        let fields: Vec<String> = fields.iter().map(|(name, value)| format!("{s}\"{name}\":{s}{value}")).collect();
        format!("{{{}{s}}}", fields.join(",")).into_bytes()
    }

    /// The file with other text for a field, or without it.
    fn with(&self, field: &str, value: Option<&str>) -> Vec<u8> {
        let kept = self.fields.iter().filter(|(name, _)| *name != field || value.is_some());
        let set = |(name, old): &(&'static str, String)| match value {
            Some(value) if *name == field => (*name, value.to_owned()),
            _ => (*name, old.clone()),
        };
        self.text(&kept.map(set).collect::<Vec<_>>())
    }

    /// Each LOD below `lod_count` without a region file is reported as missing, and each other LOD with one as beyond it.
    fn compare_lods(&self, bytes: &[u8]) {
        disk::clean();
        let dir = disk::directory("forest");
        disk::write(&dir, "meta.vxrm", bytes);
        let above = if self.port { "" } else { "regions/" };
        for lod in self.saved {
            disk::write(&dir, format!("{above}lod{lod}/r.0.0.0.vxr"), b"");
        }
        let save = Save::open(&dir, &Options::default().limits(limits()));
        let save = save.unwrap_or_else(|error| panic!("no save: {error}"));
        disk::clean();
        let reported = |code: Code| {
            let of_code = save.faults.iter().filter(move |fault| fault.damage.code == code);
            of_code.filter_map(|fault| if let Value::Number(lod) = fault.damage.found { Some(lod) } else { None })
        };
        let lods = |all: std::ops::Range<u8>, has_file: bool| {
            all.filter(|lod| self.saved.contains(lod) == has_file).map(u64::from).collect::<BTreeSet<_>>()
        };
        let missing: BTreeSet<u64> = reported(Code::LodMissing).collect();
        assert_eq!(missing, lods(0..self.lods.unwrap_or(0), false), "missing LODs of {self:?}");
        let beyond: BTreeSet<u64> = reported(Code::MetaLods).collect();
        assert_eq!(beyond, lods(self.lods.unwrap_or(MAX_LODS)..MAX_LODS, true), "LODs beyond those of {self:?}");
    }
}

impl Model for Forest {
    fn make(u: &mut Unstructured<'_>) -> Result<Self> {
        let (bits, order, version, sizes, sector): (u8, u8, u8, [u8; 2], u16) = u.arbitrary()?;
        let (codes, lods): (u16, u8) = u.arbitrary()?;
        let mut meta = Self {
            version: 1 + version % 3,
            sizes: [1 + sizes[0] % 8, 1 + sizes[1] % 7],
            sector_size: sector.max(1),
            depths: std::array::from_fn(|i| (codes >> (2 * i) & 3) as u8),
            lods: (bits & 1 == 1).then_some(1 + lods % 24),
            fields: Vec::new(),
            space: ["", " ", "\n\t", "\r\n  "][usize::from(bits >> 1 & 3)],
            port: bits & 16 == 16,
            saved: u.arbitrary::<[u8; 3]>()?.map(|n| n % MAX_LODS),
        };
        // The engine writes 4 or 4.0.
        let point = if bits & 8 == 8 { ".0" } else { "" };
        let number = |n: u16| format!("{n}{point}");
        let depths = meta.depths.map(|code| number(code.into())).join(",");
        meta.fields = vec![
            ("version", number(meta.version.into())),
            ("block_size_po2", number(meta.sizes[0].into())),
            ("region_size_po2", number(meta.sizes[1].into())),
            ("sector_size", number(meta.sector_size)),
            ("channel_depths", format!("[{depths}]")),
        ];
        meta.fields.extend(meta.lods.map(|n| ("lod_count", number(n.into()))));
        let len = meta.fields.len();
        meta.fields.rotate_left(usize::from(order) % len);
        Ok(meta)
    }

    fn bytes(&self) -> Vec<u8> {
        self.text(&self.fields)
    }

    fn look(&self, bytes: &[u8]) -> Vec<Seen> {
        let mut damage = Vec::new();
        let _ = Meta::decode(bytes).report_to(&mut damage);
        damage.into_iter().map(Seen::from).collect()
    }

    fn compare(&self, bytes: &[u8]) {
        let mut damage = Vec::new();
        let found = Meta::decode(bytes).report_to(&mut damage);
        let expected = Meta {
            version: Some(self.version),
            block_size_po2: Some(self.sizes[0]),
            region_size_po2: Some(self.sizes[1]),
            sector_size: Some(self.sector_size.into()),
            depths: Some(self.depths.map(|code| Depth::ALL[usize::from(code)])),
            lod_count: self.lods,
            extra: Vec::new(),
        };
        assert_eq!((found.as_ref(), damage.as_slice()), (Some(&expected), &[][..]));
        let again = Meta::decode(&expected.encode()).report_to(&mut damage);
        assert_eq!((again, damage.as_slice()), (found, &[][..]), "not read as it was written");
        self.compare_lods(bytes);
        raw::check(bytes);
    }

    fn any(&self, bytes: &[u8]) {
        raw::check(bytes);
    }

    fn kinds() -> &'static [Kind<Self>] {
        const {
            &[
                Kind { name: "field_missing", apply: field_missing },
                Kind { name: "field_of_another_type", apply: field_of_another_type },
                Kind { name: "field_out_of_range", apply: field_out_of_range },
                Kind { name: "version_unknown", apply: version_unknown },
                Kind { name: "depths_of_another_number", apply: depths_of_another_number },
                Kind { name: "depth_impossible", apply: depth_impossible },
                Kind { name: "field_unknown", apply: field_unknown },
                Kind { name: "file_cut", apply: file_cut },
                Kind { name: "byte_out_of_place", apply: byte_out_of_place },
                Kind { name: "no_object", apply: no_object },
            ]
        }
    }
}

const REQUIRED: [&str; 4] = ["version", "block_size_po2", "region_size_po2", "sector_size"];

fn field(bytes: Vec<u8>, field: &'static str, code: Code) -> Option<Case> {
    let span = Span::sized(0, bytes.len() as u64);
    Some(Case::of(bytes, &[code], Place::FieldAt(field, span)))
}

fn field_missing(meta: &Forest, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let mut fields = REQUIRED.to_vec();
    // Version 1 had no depths.
    fields.extend((meta.version > 1).then_some("channel_depths"));
    let name = dice.one(&fields)?;
    field(meta.with(name, None), name, Code::MetaField)
}

fn field_of_another_type(meta: &Forest, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let name = dice.one(&meta.fields)?.0;
    let value =
        dice.one(&["\"4\"", "null", "true", "4.5", "-4", "{}", "[]", "[4]", "1e300", "99999999999999999999"])?;
    field(meta.with(name, Some(value)), name, Code::MetaField)
}

fn field_out_of_range(meta: &Forest, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (name, values) = dice.one(&[
        ("version", ["256", "257", "1e6"]),
        ("block_size_po2", ["0", "9", "255"]),
        ("region_size_po2", ["0", "8", "255"]),
        ("sector_size", ["0", "65536", "65537"]),
        ("lod_count", ["0", "25", "256"]),
    ])?;
    meta.fields.iter().find(|(field, _)| *field == name)?;
    field(meta.with(name, Some(dice.one(&values)?)), name, Code::MetaField)
}

fn version_unknown(meta: &Forest, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let version = dice.one(&["0", "4", "4.0", "255"])?;
    field(meta.with("version", Some(version)), "version", Code::MetaVersion)
}

fn depths(meta: &Forest, codes: &[u8]) -> Option<Case> {
    let codes: Vec<String> = codes.iter().map(u8::to_string).collect();
    let value = format!("[{}]", codes.join(","));
    field(meta.with("channel_depths", Some(&value)), "channel_depths", Code::MetaField)
}

fn depths_of_another_number(meta: &Forest, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let n = dice.one(&[0, 1, 7, 9, 16])?;
    depths(meta, &vec![1; n])
}

fn depth_impossible(meta: &Forest, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let mut codes = meta.depths;
    codes[dice.below(8)] = dice.within(4, 255) as u8;
    depths(meta, &codes)
}

fn field_unknown(meta: &Forest, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let mut fields = meta.fields.clone();
    let name = dice.one(&["mods", "Version", "block_size", "\\u001b[2J", ""])?;
    fields.insert(dice.below(fields.len() + 1), (name, "{\"version\": 9}".to_owned()));
    field(meta.text(&fields), "meta file", Code::MetaExtra)
}

/// Cuts off the last bytes, which leaves no JSON; the damage is reported at the new end.
fn file_cut(_: &Forest, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let end = dice.below(bytes.len());
    bytes.truncate(end);
    let end = Span::new(end as u64, end as u64);
    Some(Case::of(bytes, &[Code::MetaUnreadable], Place::Touching(end)))
}

/// Inserts a byte that JSON allows in texts only, or puts it in place of another.
fn byte_out_of_place(_: &Forest, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let at = dice.below(bytes.len());
    // Control characters are not allowed in texts either.
    bytes[at] = dice.one(&[0, 1, 7, 0x1f])?;
    let end = bytes.len() as u64;
    // It is found at the byte or, where a number or a name goes on until it, right behind.
    Some(Case::of(bytes, &[Code::MetaUnreadable], Place::At(Space::File, Span::new(at as u64, end))))
}

fn no_object(_: &Forest, _: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let bytes = dice.one(&["[]", "3", "\"version\"", "null", "[{\"version\": 3}]"])?.as_bytes().to_vec();
    let span = Span::sized(0, bytes.len() as u64);
    Some(Case::of(bytes, &[Code::MetaUnreadable], Place::At(Space::File, span)))
}
