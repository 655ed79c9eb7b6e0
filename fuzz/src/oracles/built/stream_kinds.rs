//! The kinds of damage of a stream.
//!
//! Not among them, because nothing in the file shows them: two blocks swapped (a blob does not say where it belongs), a row
//! that is gone from its table and its index.

use voxscope::bytes::Span;
use voxscope::damage::{Code, Space};
use voxscope::godot::stream::loc::Format;

use super::stream::{BLOCKS, Cell, META, Row, SCHEMA, Stream};
use super::{Case, Dice, Kind, Place};

pub(super) const ALL: [Kind<Stream>; 19] = [
    Kind { name: "magic_changed", apply: magic },
    Kind { name: "page_size_impossible", apply: page_size },
    Kind { name: "file_cut", apply: file_cut },
    Kind { name: "file_empty", apply: file_empty },
    Kind { name: "schema_zeroed", apply: schema_zeroed },
    Kind { name: "page_of_no_kind", apply: page_of_no_kind },
    Kind { name: "page_of_an_index", apply: page_of_an_index },
    Kind { name: "cell_outside", apply: cell_outside },
    Kind { name: "version_unknown", apply: version },
    Kind { name: "block_size_impossible", apply: block_size },
    Kind { name: "key_no_place", apply: key },
    Kind { name: "value_no_blob", apply: value },
    Kind { name: "keys_by_the_rule_of_2021", apply: key_rule },
    Kind { name: "chain_cut", apply: chain_cut },
    Kind { name: "chain_goes_on", apply: chain_goes_on },
    Kind { name: "chain_in_a_circle", apply: chain_in_a_circle },
    Kind { name: "free_list_to_nowhere", apply: free_list },
    Kind { name: "free_pages_miscounted", apply: free_pages },
    Kind { name: "page_appended", apply: page_appended },
];

fn with(mut bytes: Vec<u8>, at: usize, new: &[u8]) -> Vec<u8> {
    bytes[at..at + new.len()].copy_from_slice(new);
    bytes
}

fn at(bytes: Vec<u8>, code: Code, start: usize, end: usize) -> Option<Case> {
    Some(Case::at(bytes, code, Space::File, start, end))
}

fn touching(bytes: Vec<u8>, code: Code, span: Span) -> Option<Case> {
    Some(Case::of(bytes, &[code], Place::Touching(span)))
}

/// A row that has what is wanted.
fn row<'s>(model: &'s Stream, dice: &mut Dice, is: impl Fn(&Cell) -> bool) -> Option<(&'s Row, Cell)> {
    let map = model.map();
    let some: Vec<_> = model.rows.iter().zip(map.cells).filter(|(_, cell)| is(cell)).collect();
    dice.one(&some)
}

fn of_row(bytes: Vec<u8>, code: Code, row: &Row, cell: &Cell) -> Option<Case> {
    let span = Span::new(cell.start as u64, cell.end as u64);
    Some(touching(bytes, code, span)?.of_block(row.place.position))
}

fn magic(_: &Stream, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    bytes[dice.below(16)] ^= 1 << dice.below(8);
    at(bytes, Code::StreamNotDatabase, 0, 16)
}

fn page_size(_: &Stream, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let new = dice.one(&[0u16, 2, 256, 511, 1000, 4097, 65_535])?;
    at(with(bytes, 16, &new.to_be_bytes()), Code::StreamHeader, 16, 18)
}

fn file_cut(model: &Stream, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let pages = dice.within(1, model.map().pages - 1);
    bytes.truncate(pages * model.page_size);
    Some(Case::of(bytes, &[Code::StreamCut], Place::Field("pages of the file")))
}

fn file_empty(_: &Stream, _: Vec<u8>, _: &mut Dice) -> Option<Case> {
    Some(Case::of(Vec::new(), &[Code::StreamEmpty], Place::Anywhere))
}

fn schema_zeroed(model: &Stream, mut bytes: Vec<u8>, _: &mut Dice) -> Option<Case> {
    bytes[100..model.page_size].fill(0);
    touching(bytes, Code::StreamPage, model.page(SCHEMA))
}

fn page_of_no_kind(model: &Stream, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let page = dice.within(META, model.tables());
    let new = dice.one(&[0u8, 1, 3, 7, 12, 14, 255])?;
    let span = model.page(page);
    at(with(bytes, span.start as usize, &[new]), Code::StreamPage, span.start as usize, span.end as usize)
}

fn page_of_an_index(model: &Stream, bytes: Vec<u8>, _: &mut Dice) -> Option<Case> {
    let span = model.page(BLOCKS);
    at(with(bytes, span.start as usize, &[10]), Code::StreamPage, span.start as usize, span.end as usize)
}

fn cell_outside(model: &Stream, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let number = dice.below(model.rows.len());
    model.rows.get(number)?;
    let span = model.page(BLOCKS);
    let new = dice.one(&[0u16, 7, model.page_size as u16, 0xffff])?;
    let bytes = with(bytes, span.start as usize + 8 + 2 * number, &new.to_be_bytes());
    at(bytes, Code::StreamPage, span.start as usize, span.end as usize)
}

fn version(model: &Stream, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let new = dice.within(2, 255) as u8;
    let field = Place::Field("version of the stream");
    Some(Case::of(with(bytes, model.map().meta, &[new]), &[Code::StreamMetaField], field))
}

fn block_size(model: &Stream, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let new = dice.one(&[0u8, 9, 64, 127, 128, 255])?;
    let field = Place::Field("block_size_po2 of the stream");
    Some(Case::of(with(bytes, model.map().meta + 1, &[new]), &[Code::StreamMetaField], field))
}

fn key(model: &Stream, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (_, cell) = row(model, dice, |_| true)?;
    let span = Span::new(cell.start as u64, cell.end as u64);
    let bytes = match model.format {
        Format::Text => with(bytes, cell.key, &[dice.one(b"x+ \xff")?]),
        // The highest five bits are the LOD.
        Format::Blob => with(bytes, cell.key + 9, &[0xff]),
        Format::Int16 | Format::Int19 => return None,
    };
    touching(bytes, Code::StreamKey, span)
}

fn key_rule(model: &Stream, _: Vec<u8>, _: &mut Dice) -> Option<Case> {
    let bytes = model.by_the_old_rule()?.build()?.0;
    Some(Case::of(bytes, &[Code::StreamKeyRule], Place::Field("keys of rows above LOD 0")))
}

fn value(model: &Stream, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (row, cell) = row(model, dice, |_| true)?;
    // A text of the same length has the next number; the type may take several bytes.
    let mut last = cell.serial;
    while bytes[last] >= 0x80 {
        last += 1;
    }
    bytes[last] |= 1;
    of_row(bytes, Code::StreamValue, row, &cell)
}

fn chain_cut(model: &Stream, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (row, cell) = row(model, dice, |cell| cell.overflow.len() > 1)?;
    let page = cell.overflow[dice.below(cell.overflow.len() - 1)];
    let new = dice.one(&[0u32, 1, 0xffff, u32::MAX])?;
    let bytes = with(bytes, (page - 1) * model.page_size, &new.to_be_bytes());
    Some(Case::of(bytes, &[Code::StreamChain], Place::Anywhere).of_block(row.place.position))
}

fn chain_goes_on(model: &Stream, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (row, cell) = row(model, dice, |cell| !cell.overflow.is_empty())?;
    let page = *cell.overflow.last()?;
    let bytes = with(bytes, (page - 1) * model.page_size, &(dice.within(1, 65_535) as u32).to_be_bytes());
    Some(touching(bytes, Code::StreamChain, model.page(page))?.of_block(row.place.position))
}

fn chain_in_a_circle(model: &Stream, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let (row, cell) = row(model, dice, |cell| cell.overflow.len() > 1)?;
    let from = dice.below(cell.overflow.len() - 1);
    let to = cell.overflow[dice.below(from + 1)];
    let bytes = with(bytes, (cell.overflow[from] - 1) * model.page_size, &(to as u32).to_be_bytes());
    Some(Case::of(bytes, &[Code::StreamChain], Place::Anywhere).of_block(row.place.position))
}

fn free_list(_: &Stream, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let new = dice.one(&[1u32, 2, 3, 10_000, u32::MAX])?;
    at(with(bytes, 32, &new.to_be_bytes()), Code::StreamFreelist, 32, 36)
}

fn free_pages(_: &Stream, bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    at(with(bytes, 36, &(dice.within(1, 65_535) as u32).to_be_bytes()), Code::StreamFreelist, 36, 40)
}

fn page_appended(model: &Stream, mut bytes: Vec<u8>, dice: &mut Dice) -> Option<Case> {
    let pages = model.map().pages;
    let more = dice.within(1, 3);
    bytes.resize(bytes.len() + more * model.page_size, 0);
    let bytes = with(bytes, 28, &((pages + more) as u32).to_be_bytes());
    touching(bytes, Code::StreamUnused, model.page(pages + 1))
}
