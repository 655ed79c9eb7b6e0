//! Files that a copy changed: ends of lines, characters, names, ends of files, pages.

use std::io;
use std::path::Path;

use crate::damage::Code;
use crate::demo::Sample;
use crate::demo::draft::{REGION, alter, plain, put, unmade, victim};

/// A page that systems write at once.
const PAGE: usize = 4096;

pub(super) const SAMPLES: &[Sample] = &[
    Sample::damaged("copy-crlf", "A copy put a carriage return before every line feed.", &[Code::CopyCrlf], |dir| {
        rewrite(dir, |bytes| {
            let with = |byte: &u8| if *byte == b'\n' { vec![b'\r', b'\n'] } else { vec![*byte] };
            bytes.iter().flat_map(with).collect()
        })
    }),
    Sample::damaged("copy-lf", "A copy removed the carriage return before a line feed.", &[Code::CopyLf], |dir| {
        // A voxel whose two bytes are a carriage return and a line feed.
        plain(dir, |data| put(data, 8 + 1000, b"\r\n"))?;
        let path = dir.join(REGION);
        let bytes = std::fs::read(&path)?;
        let mut out: Vec<u8> = Vec::with_capacity(bytes.len());
        for byte in bytes.iter().copied() {
            if byte == b'\n' && out.last() == Some(&b'\r') {
                out.pop();
            }
            out.push(byte);
        }
        if out.len() == bytes.len() {
            return Err(unmade("a file without ends of lines"));
        }
        std::fs::write(path, out)
    }),
    Sample::damaged("copy-encoding", "A copy turned every byte above 127 into UTF-8.", &[Code::CopyEncoding], |dir| {
        rewrite(dir, |bytes| bytes.iter().map(|byte| char::from(*byte)).collect::<String>().into_bytes())
    }),
    Sample::damaged("copy-cut", "A copy broke off after a few of its buffers.", &[Code::CopyCut], |dir| {
        rewrite(dir, |bytes| bytes.get(..(bytes.len() - 1) / PAGE * PAGE).unwrap_or_default().to_vec())
    }),
    Sample::damaged("page-zeroed", "A page of zeros in the middle of a region file.", &[Code::PageZeroed], |dir| {
        alter(dir, |draft| {
            let at = victim(&draft.blocks(REGION)?)?;
            put(draft.file(REGION)?, at.start / PAGE * PAGE, &[0; PAGE]);
            Ok(())
        })
    }),
    Sample::damaged("copy-name", "A program that synchronizes renamed a region file.", &[Code::CopyName], |dir| {
        alter(dir, |draft| {
            let bytes = std::mem::take(draft.file(REGION)?);
            draft.remove(REGION);
            draft.put("regions/lod0/r.0.0.0 (conflicted copy).vxr", bytes);
            Ok(())
        })
    }),
];

fn rewrite(dir: &Path, change: impl FnOnce(&[u8]) -> Vec<u8>) -> io::Result<()> {
    alter(dir, |draft| {
        let file = draft.file(REGION)?;
        *file = change(file);
        Ok(())
    })
}
