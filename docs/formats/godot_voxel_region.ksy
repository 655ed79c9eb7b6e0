meta:
  id: godot_voxel_region
  title: Godot Voxel region file, version 3
  file-extension: vxr
  endian: le
  imports:
    - godot_voxel_container
doc: |
  A box of blocks of one LOD. Versions 1 and 2 store no format fields: those are in meta.vxrm, so they are not described
  here. See section 4 of ../formats.md.
seq:
  - id: magic
    contents: VXR_
  - id: version
    type: u1
    valid: 3
  - id: block_size_po2
    type: u1
  - id: region_size_x
    type: u1
  - id: region_size_y
    type: u1
  - id: region_size_z
    type: u1
  - id: channel_depths
    type: u1
    repeat: expr
    repeat-expr: 8
  - id: sector_size
    type: u2
  - id: palette_hint
    type: u1
    valid:
      any-of: [0, 0xff]
  - id: palette
    type: u4be
    repeat: expr
    repeat-expr: 256
    if: palette_hint == 0xff
    doc: red, green, blue, alpha
  - id: entries
    type: entry
    repeat: expr
    repeat-expr: region_size_x.as<s4> * region_size_y.as<s4> * region_size_z.as<s4>
    doc: slot = y + region_size_y * (x + region_size_x * z)
instances:
  sectors_start:
    value: '20 + (palette_hint == 0xff ? 1024 : 0) + 4 * region_size_x.as<s4> * region_size_y.as<s4> * region_size_z.as<s4>'
types:
  entry:
    seq:
      - id: value
        type: u4
    instances:
      sector_count:
        value: value & 0xff
      first_sector:
        value: value >> 8
      block:
        io: _root._io
        pos: _root.sectors_start + first_sector * _root.sector_size
        type: block
        if: value != 0
  block:
    seq:
      - id: len_container
        type: u4
      - id: container
        size: len_container
        type: godot_voxel_container
