meta:
  id: godot_voxel_block
  title: Godot Voxel block data, versions 2 to 4
  endian: le
doc: |
  A box of voxels with eight channels, decompressed. Raw values are in the order ZXY: y varies fastest. Version 1 stores
  no version, size or depths and is not described here. See section 1 of ../formats.md.
seq:
  - id: version
    type: u1
    valid:
      min: 2
      max: 4
  - id: size_x
    type: u2
    valid:
      min: 1
  - id: size_y
    type: u2
    valid:
      min: 1
  - id: size_z
    type: u2
    valid:
      min: 1
  - id: channels
    type: channel
    repeat: expr
    repeat-expr: 8
    doc: TYPE, SDF, COLOR, INDICES, WEIGHTS, DATA5, DATA6, DATA7
  - id: metadata
    type: metadata
    if: _io.size - _io.pos > 4
  - id: epilogue
    contents: [0x0d, 0xf0, 0x0d, 0x90]
instances:
  volume:
    value: size_x.as<s4> * size_y.as<s4> * size_z.as<s4>
types:
  channel:
    seq:
      - id: format
        type: u1
      - id: data
        size: 'storage == storage::raw ? _root.volume * value_bytes : value_bytes'
    instances:
      storage:
        value: format & 0xf
        enum: storage
      depth_code:
        value: format >> 4
      value_bytes:
        value: 1 << depth_code
  metadata:
    seq:
      - id: len_items
        type: u4
      - id: items
        size: len_items
        doc: |
          The block's item, then voxel positions (three u2) with an item each. Up to version 3 an item is a Variant; in
          version 4 it has a tag.
enums:
  storage:
    0: raw
    1: uniform
