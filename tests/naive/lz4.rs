//! An LZ4 block, byte after byte.

/// What is wrong with a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It ends inside a sequence.
    Cut,
    /// A match reaches before the start.
    Offset,
    /// A match is no bytes back, which the format forbids and the C library lets pass.
    Zero,
    /// It gives more than it may.
    Long,
}

/// The decompressed bytes, `most` of them at the most.
pub fn decode(packed: &[u8], most: usize) -> Result<Vec<u8>, Fault> {
    decoded(packed, most).unwrap_or(Err(Fault::Cut))
}

/// `None` when the block ends inside a sequence.
fn decoded(packed: &[u8], most: usize) -> Option<Result<Vec<u8>, Fault>> {
    let (mut out, mut at) = (Vec::new(), 0);
    loop {
        let token = *packed.get(at)?;
        at += 1;
        let mut length = usize::from(token >> 4);
        if length == 15 {
            length += more(packed, &mut at)?;
        }
        for _ in 0..length {
            out.push(*packed.get(at)?);
            at += 1;
            if out.len() > most {
                return Some(Err(Fault::Long));
            }
        }
        if at == packed.len() {
            return Some(Ok(out));
        }
        let offset = usize::from(*packed.get(at)?) | usize::from(*packed.get(at + 1)?) << 8;
        at += 2;
        let mut length = usize::from(token & 15) + 4;
        if length == 19 {
            length += more(packed, &mut at)?;
        }
        if offset == 0 || offset > out.len() {
            return Some(Err(if offset == 0 { Fault::Zero } else { Fault::Offset }));
        }
        for _ in 0..length {
            out.push(out[out.len() - offset]);
            if out.len() > most {
                return Some(Err(Fault::Long));
            }
        }
    }
}

/// A length that goes on until a byte is not 255.
fn more(packed: &[u8], at: &mut usize) -> Option<usize> {
    let mut sum = 0;
    loop {
        let byte = *packed.get(*at)?;
        *at += 1;
        sum += usize::from(byte);
        if byte != 255 {
            return Some(sum);
        }
    }
}
