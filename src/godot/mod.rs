//! The formats of Godot Voxel: what the engine's region streams write, from 2019 to today.
pub mod variant;
