meta:
  id: pak_region
  title: Pak region
  file-extension: region
  endian: le
doc: |
  Chunks as zlib streams in blocks of 4,096 bytes. first_block_offset is taken in blocks here; one passage of the notes
  counts it in bytes. See section 8 of ../formats.md.
seq:
  - id: tag
    size: 4
    doc: not documented
  - id: version_number
    type: s4
  - id: record_count
    type: s4
    valid:
      min: 0
  - id: first_block_offset
    type: s4
  - id: records
    type: record
    repeat: expr
    repeat-expr: record_count
types:
  record:
    seq:
      - id: block_offset
        type: s2
        doc: "-1 if there is no chunk"
      - id: block_length
        type: s2
      - id: file_length
        type: s4
    instances:
      chunk:
        io: _root._io
        pos: (_root.first_block_offset + block_offset) * 4096
        size: file_length
        process: zlib
        if: block_offset >= 0
