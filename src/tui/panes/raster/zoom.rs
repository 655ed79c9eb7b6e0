//! How large the things of a picture are drawn.

/// The largest that a voxel is drawn, as a power of two.
const NEAREST: u8 = 3;

/// How large things are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zoom {
    /// So many voxels along each side of a cell, of which one is shown.
    Out(u32),
    /// A voxel has 2 to this power cells along each side.
    In(u8),
}

impl Zoom {
    /// Voxels from one cell to the next.
    #[must_use]
    pub const fn stride(self) -> u32 {
        match self {
            Self::Out(0) | Self::In(_) => 1,
            Self::Out(n) => n,
        }
    }

    /// One step nearer.
    #[must_use]
    pub const fn nearer(self) -> Self {
        match self {
            Self::Out(0 | 1) => Self::In(1),
            Self::Out(n) => Self::Out(n / 2),
            Self::In(n) if n < NEAREST => Self::In(n + 1),
            Self::In(n) => Self::In(n),
        }
    }

    /// One step farther, while there is more than a cell to see.
    #[must_use]
    pub fn farther(self, size: [u32; 2]) -> Self {
        match self {
            Self::In(0 | 1) => Self::Out(1),
            Self::In(n) => Self::In(n - 1),
            Self::Out(n) if n < size.into_iter().max().unwrap_or(1) => Self::Out(n.saturating_mul(2).max(2)),
            Self::Out(n) => Self::Out(n),
        }
    }

    /// Columns of a voxel.
    #[must_use]
    pub const fn wide(self) -> u16 {
        match self {
            Self::Out(_) => 1,
            Self::In(n) => 1 << (if n > NEAREST { NEAREST } else { n }),
        }
    }

    /// Rows of a voxel, of which there are two in a line with half blocks.
    #[must_use]
    pub const fn tall(self, letters: bool) -> u16 {
        let wide = self.wide();
        if letters && wide > 1 { wide / 2 } else { wide }
    }

    /// In a few characters: how many voxels a cell, or cells a voxel.
    #[must_use]
    pub fn short(self) -> String {
        match self {
            Self::Out(n) => format!("1:{}", n.max(1)),
            Self::In(_) => format!("{}:1", self.wide()),
        }
    }

    /// In words.
    #[must_use]
    pub fn words(self, letters: bool, thing: &str) -> String {
        match self {
            Self::Out(0 | 1) => format!("1 cell = 1 {thing}"),
            Self::Out(n) => format!("1 cell = {n} x {n} {thing}s"),
            Self::In(_) => format!("1 {thing} = {} x {} cells", self.wide(), self.tall(letters)),
        }
    }
}
