meta:
  id: godot_voxel_instances
  title: Godot Voxel instance data, version 1
  endian: le
doc: |
  Instances of a VoxelInstancer in one block, decompressed. Version 0 has the same fields, all big-endian. See section 7 of
  ../formats.md.
seq:
  - id: version
    type: u1
    valid: 1
  - id: layer_count
    type: u1
  - id: position_range
    type: f4
  - id: layers
    type: layer
    repeat: expr
    repeat-expr: layer_count
  - id: epilogue
    contents: [0x0d, 0xf0, 0x0d, 0x90]
types:
  layer:
    seq:
      - id: id
        type: u2
      - id: count
        type: u2
      - id: scale_min
        type: f4
      - id: scale_max
        type: f4
      - id: format
        type: u1
        valid: 0
      - id: instances
        type: instance
        repeat: expr
        repeat-expr: count
  instance:
    seq:
      - id: x
        type: u2
      - id: y
        type: u2
      - id: z
        type: u2
      - id: scale
        type: u1
      - id: rotation
        type: u1
        repeat: expr
        repeat-expr: 4
        doc: a quaternion x, y, z, w; each component (v - 127) / 127
