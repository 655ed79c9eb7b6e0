use voxscope::sqlite::{journal, wal};

use super::{Seeds, Set, joined, noise, patched};
use crate::oracles::built::Model;
use crate::oracles::built::stream::Stream;

/// Streams by the choices of the model, as long as they are short enough.
fn streams() -> Vec<Vec<u8>> {
    let choices = (0..400usize).map(|n| noise(n * 7 + 96).split_off(n * 7));
    let made = choices.filter_map(|bytes| Stream::make(&mut arbitrary::Unstructured::new(&bytes)).ok());
    made.map(|model| model.bytes()).filter(|bytes| bytes.len() <= super::MOST_BYTES).collect()
}

pub(super) fn seeds() -> Seeds {
    let mut set = Set::default();
    let all = streams();
    let size = |file: &[u8]| usize::from(u16::from_be_bytes([file[16], file[17]]));
    for (n, file) in all.iter().take(6).enumerate() {
        set.add(format!("made_{n}_healthy"), file.clone());
    }
    let Some(file) = all.iter().max_by_key(|file| (file.len(), file[500])) else { return set.0 };
    let page = size(file);
    let pages = (file.len() / page) as u32;
    set.add("no_bytes", []);
    set.add("header_alone", &file[..100]);
    set.add("page_alone", &file[..page]);
    set.add("magic_changed", patched(file, 0, b"s"));
    set.add("page_size_impossible", patched(file, 16, &[3, 3]));
    set.add("page_size_65536", patched(file, 16, &[0, 1]));
    set.add("reserved", patched(file, 20, &[32]));
    set.add("pages_too_many", patched(file, 28, &[0xff; 4]));
    set.add("pages_too_few", patched(file, 28, &1u32.to_be_bytes()));
    set.add("free_list", patched(&patched(file, 32, &pages.to_be_bytes()), 36, &[0, 0, 0, 1]));
    set.add("pointer_maps", patched(file, 52, &[0, 0, 0, 9]));
    set.add("schema_lost", patched(file, 100, &vec![0; page - 100]));
    for number in 1..pages as usize {
        set.add(format!("page_{number}_lost"), patched(file, number * page, &vec![0; page]));
        set.add(format!("page_{number}_interior"), patched(file, number * page, &[5, 0, 0, 0, 1]));
    }
    let second: [(u32, &[u8]); 1] = [(2, &file[page..2 * page])];
    set.add("journal", journal::encode(&second, pages, page as u32));
    set.add("wal", wal::encode(&second, pages, page as u32));
    set.add("key_text", &b"0,0,0,0"[..]);
    set.add("key_number", &[0, 2, 0, 5, 0xff, 0xff, 0xff, 0xf9][..]);
    set.add("key_blob", &[5, 0, 0, 0xfe, 0xff, 0xff, 0xe7, 0xff, 0xff, 0x17][..]);
    set.add("noise", noise(4000));
    set.add("noise_behind_magic", joined(&file[..100], &noise(4000)));
    set.0
}

/// Journals and logs.
pub(super) fn log_seeds() -> Seeds {
    let mut set = Set::default();
    let [one, other] = [[1u8; 512], [2; 512]];
    let pages: [(u32, &[u8]); 2] = [(1, &one), (2, &other)];
    // Two saves, and a third that did not end.
    let frames: [wal::Frame<'_>; 4] = [(1, 2, &one), (2, 0, &other), (1, 2, &other), (2, 0, &one)];
    let of_journal = journal::encode(&pages, 2, 512);
    for (name, file) in [("journal", of_journal), ("log", wal::encode_frames(&frames, 512, true))] {
        set.add(format!("{name}_cut"), &file[..file.len() - 100]);
        set.add(format!("{name}_header_alone"), &file[..28]);
        set.add(format!("{name}_magic_changed"), patched(&file, 0, b"s"));
        set.add(format!("{name}_content_changed"), patched(&file, file.len() - 208, b"s"));
        set.add(name, file);
    }
    set.add("log_of_little_endian_sums", wal::encode_frames(&frames, 512, false));
    set.add("log_of_one_save", wal::encode(&pages, 2, 512));
    set.add("log_of_one_page", wal::encode(&pages[..1], 1, 512));
    set.add("journal_of_one_page", journal::encode(&pages[1..], 2, 512));
    set.add("journal_of_a_smaller_database", journal::encode(&pages, 1, 512));
    set.add("empty", []);
    set.add("noise", noise(1200));
    set.0
}
