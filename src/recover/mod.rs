//! What the sectors of a region show about its table: a walk over all of them, the ways to read it, the table's entries
//! matched with it in order, seams between neighbours as further evidence, and the moved blocks assigned.
//!
//! Everything here only reads, and only decides what is likely. [`survey`] calls the rest.

pub mod align;
pub mod assemble;
mod band;
mod bits;
pub mod cells;
mod closed;
pub mod cluster;
mod contradicted;
pub mod copies;
pub mod decide;
pub mod effort;
pub mod evidence;
pub mod explained;
pub mod faces;
pub mod foreign_table;
mod gaps;
mod in_order;
pub mod item;
mod joint;
pub mod keys;
mod kinds;
mod likeness;
pub mod map;
pub mod mended;
pub mod moved;
pub mod names;
pub mod pak;
mod pass;
pub mod placed_seams;
pub mod quick;
mod random;
pub mod reading;
pub mod region;
pub mod scaled;
pub mod screen;
pub mod seam;
pub mod settled;
mod shifts;
pub mod sketch;
pub mod slots;
pub mod solutions;
pub mod solve;
pub mod solved;
pub mod solver;
pub mod survey;
pub mod torn_table;
mod twins;
pub mod walk;
pub mod weights;
