//! Region files whose sectors are not where their header and table have them: a header that was damaged, bytes that
//! were inserted or cut out.
//!
//! The table itself is the judge: under the right header, and at the right place, the size prefix of each block asks for
//! just the sectors that its entry has. No block has to be decoded for that.

use std::collections::HashMap;
use std::io;

use crate::godot::region::{Format, Header, MAX_HEADER_BYTES};
use crate::repair::parts::Parts;
use crate::save::one_bit_off;
use crate::save::region_moved::{BREAKS, REACH, beginnings, next_break};
use crate::save::table_fits::{Fits, fits};
use crate::source::{FileSource, Source};

/// Bytes at the start of a file in which its header is looked for.
const START: usize = 1 << 16;

/// A header under which the table fits, and the file as it is read by it.
pub(super) struct Found {
    pub header: Header,
    pub parts: Parts,
    pub remark: &'static str,
}

/// A header, by how many bytes what it describes is moved, and why.
type Try = (Header, i64, &'static str);

/// A file with its bytes moved: towards the end by zeros, towards the start over the first ones.
fn moved(file: FileSource, by: i64) -> Parts {
    Parts::whole(file).shifted(if by < 0 { by.unsigned_abs() } else { 0 }, by)
}

/// Looks for the header and the shifts of a file under which its table fits; `None` when it fits as it is, or nothing
/// is better.
pub(super) fn find(file: FileSource, own: Option<&Header>, likely: Option<&Format>) -> io::Result<Option<Found>> {
    let before = match own {
        Some(header) => fits(&file, header)?,
        None => Fits::default(),
    };
    let mut best: Option<(Fits, Try)> = None;
    // A header that can be read is believed where some entries fit: the others may be of another time.
    if !before.most() {
        let mut prefix = Vec::new();
        file.read_into(0, START, &mut prefix)?;
        let mut tries: Vec<Try> = Vec::new();
        let field = "its header was damaged, and is that of the other files now";
        if let Some(format) = likely {
            tries.push((Header::new(3, *format), 0, field));
            if own.is_none() {
                // The header of versions 1 and 2 is shorter.
                tries.push((Header::new(2, *format), 0, field));
            }
            if let Some(own) = own {
                let sizes = Format { sector_size: format.sector_size, ..own.format };
                let region = Format { region_size: format.region_size, ..own.format };
                tries.extend([sizes, region].map(|format| (Header::new(3, format), 0, field)));
            }
        }
        if let Some(own) = own {
            let flipped = "a bit of its header was flipped";
            tries.extend(one_bit_off(&own.format).into_iter().map(|format| (Header::new(3, format), 0, flipped)));
        }
        let inserted = "bytes were inserted before its header";
        for at in
            prefix.windows(4).enumerate().filter(|(at, four)| *at > 0 && *four == b"VXR_").map(|(at, _)| at).take(4)
        {
            let rest = prefix.get(at..).unwrap_or_default();
            let rest = rest.get(..MAX_HEADER_BYTES).unwrap_or(rest);
            let header = Header::decode(rest, file.len().saturating_sub(at as u64), likely).value;
            tries.extend(header.map(|header| (header, -(at as i64), inserted)));
        }
        let try_all = |tries: Vec<Try>, best: &mut Option<(Fits, Try)>| -> io::Result<()> {
            for (header, by, remark) in tries {
                let now = fits(&moved(file.again(), by), &header)?;
                if now.some() && now.most() && best.as_ref().is_none_or(|(fits, _)| now.fitting > fits.fitting) {
                    *best = Some((now, (header, by, remark)));
                }
            }
            Ok(())
        };
        try_all(tries, &mut best)?;
        if let Some(format) = likely
            && own.is_none()
            && best.is_none()
        {
            let header = Header::new(3, *format);
            let cut = "the first bytes of the file were cut off";
            let tries = starts(&file, &header)?.into_iter().map(|by| (header.clone(), by, cut));
            try_all(tries.collect(), &mut best)?;
        }
        // A header that is that of the other files is right although bytes were inserted into the first block.
        if best.is_none() && !before.some() && own.map(|own| own.format) != likely.copied() {
            return Ok(None);
        }
    }
    let (header, mut parts, mut remark) = match (best, own) {
        (Some((_, (header, by, remark))), _) => (header, moved(file, by), Some(remark)),
        (None, Some(own)) => (own.clone(), Parts::whole(file), None),
        (None, None) => return Ok(None),
    };
    for _ in 0..BREAKS {
        match next_break(&parts, &header)? {
            Some((at, by)) => {
                parts = parts.shifted(at, by);
                remark = remark.or(Some("bytes were inserted into it or cut out of it"));
            }
            None => break,
        }
    }
    Ok(remark.map(|remark| Found { header, parts, remark }))
}

/// Bytes that may have been cut off the start of a file.
fn starts(file: &FileSource, header: &Header) -> io::Result<Vec<i64>> {
    let sector = header.format.sector_size;
    let found = beginnings(file, 0..REACH, sector, |_| true)?;
    let mut votes: HashMap<u64, usize> = HashMap::new();
    for (at, _) in &found {
        *votes.entry(at % u64::from(sector.max(1))).or_default() += 1;
    }
    let Some((phase, _)) = votes.into_iter().max_by_key(|&(phase, n)| (n, std::cmp::Reverse(phase))) else {
        return Ok(Vec::new());
    };
    let sector = u64::from(sector.max(1));
    let first = (header.sectors_at() % sector + sector - phase) % sector;
    // All of the header and the table at most.
    Ok((0..=header.sectors_at() / sector).map(|n| (first + n * sector) as i64).filter(|by| *by > 0).take(64).collect())
}
