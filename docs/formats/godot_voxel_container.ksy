meta:
  id: godot_voxel_container
  title: Godot Voxel compressed container
  endian: le
doc: |
  The compressed form of block data and instance data, as every engine since 2021-01-31 writes it. Older containers have no
  mode byte. Some programs of 2025 and 2026 wrote mode 1 with a little-endian size. See section 2 of ../formats.md.
seq:
  - id: mode
    type: u1
    enum: mode
  - id: declared_size_be
    type: u4be
    if: mode == mode::lz4_big_endian
  - id: declared_size_le
    type: u4
    if: mode == mode::lz4 or mode == mode::zstd
  - id: body
    size-eos: true
    doc: the data as it is (mode 0), one LZ4 block without a frame (1 and 2), one Zstandard frame (3)
instances:
  declared_size:
    value: 'mode == mode::lz4_big_endian ? declared_size_be : declared_size_le'
    if: mode != mode::plain
enums:
  mode:
    0: plain
    1: lz4_big_endian
    2: lz4
    3: zstd
