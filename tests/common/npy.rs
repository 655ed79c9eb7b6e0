//! Arrays read by hand.

use std::path::Path;

/// An array as its bytes, its type and its shape, read by hand.
pub struct Array {
    /// NumPy's name of its numbers.
    pub descr: String,
    /// Numbers along each axis.
    pub shape: Vec<usize>,
    /// The numbers.
    pub data: Vec<u8>,
}

impl Array {
    /// Reads a file.
    pub fn read(path: &Path) -> Self {
        let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
        let end = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        assert_eq!((end % 64, bytes[end - 1]), (0, b'\n'));
        let text = std::str::from_utf8(&bytes[10..end]).unwrap();
        assert!(text.contains("'fortran_order': False"), "{text}");
        let between = |from: &str, to: &str| text.split_once(from).unwrap().1.split_once(to).unwrap().0.to_owned();
        let shape = between("'shape': (", ")").split(',').map(|n| n.trim().parse().unwrap()).collect();
        // A second opinion.
        let npy = npyz::NpyFile::new(&bytes[..]).unwrap();
        let array = Self { descr: between("'descr': '", "'"), shape, data: bytes[end..].to_vec() };
        assert_eq!(npy.shape().iter().map(|&n| n as usize).collect::<Vec<_>>(), array.shape);
        assert_eq!(npy.dtype().descr(), format!("'{}'", array.descr));
        assert_eq!(array.data.len(), array.shape.iter().product::<usize>() * array.width());
        array
    }

    /// Bytes of a number.
    pub fn width(&self) -> usize {
        self.descr[2..].parse().unwrap()
    }

    /// The number at (z, x, y).
    pub fn at(&self, [z, x, y]: [usize; 3]) -> u64 {
        let place = y + self.shape[2] * (x + self.shape[1] * z);
        let mut number = [0; 8];
        number[..self.width()].copy_from_slice(&self.data[place * self.width()..][..self.width()]);
        u64::from_le_bytes(number)
    }
    /// The numbers in the order of the file.
    pub fn values(&self) -> impl Iterator<Item = u64> + '_ {
        self.data.chunks_exact(self.width()).map(|bytes| {
            let mut number = [0; 8];
            number[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(number)
        })
    }
}
