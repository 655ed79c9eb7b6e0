meta:
  id: npy
  title: NumPy array
  file-extension: npy
  endian: le
doc: |
  An array of a voxel map. The header is the text of a Python dictionary with descr, fortran_order and shape. See section 9
  of ../formats.md.
seq:
  - id: magic
    contents: [0x93, NUMPY]
  - id: major
    type: u1
    valid:
      min: 1
      max: 3
  - id: minor
    type: u1
  - id: len_header_1
    type: u2
    if: major == 1
  - id: len_header_2
    type: u4
    if: major > 1
  - id: header
    type: str
    encoding: ASCII
    size: 'major == 1 ? len_header_1.as<u4> : len_header_2'
  - id: data
    size-eos: true
