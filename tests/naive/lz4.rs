//! An LZ4 block, byte after byte.

/// The decompressed bytes; `None` when something is wrong with the block or it gives more than `most`.
pub fn decode(packed: &[u8], most: usize) -> Option<Vec<u8>> {
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
                return None;
            }
        }
        if at == packed.len() {
            return Some(out);
        }
        let offset = usize::from(*packed.get(at)?) | usize::from(*packed.get(at + 1)?) << 8;
        at += 2;
        let mut length = usize::from(token & 15) + 4;
        if length == 19 {
            length += more(packed, &mut at)?;
        }
        if offset == 0 || offset > out.len() {
            return None;
        }
        for _ in 0..length {
            out.push(out[out.len() - offset]);
            if out.len() > most {
                return None;
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
