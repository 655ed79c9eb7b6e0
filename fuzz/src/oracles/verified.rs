//! What is verified without its output, compared with what the full decoder makes of the same container.

use voxscope::godot::block::{self, BlockLayout};
use voxscope::godot::channel::{CHANNELS, Depth, Storage};
use voxscope::godot::container::{self, Decoder, Mode};
use voxscope::godot::verify::Verifier;

use super::limits;

/// A container by the verifier and by the decoder, under the layout that its block has.
pub(super) fn container(data: &[u8]) {
    let (mut decoder, mut damage) = (Decoder::default(), Vec::new());
    let found = decoder.decode(data, &limits()).report_to(&mut damage);
    let block = block::decode(found.plain, None, None, &limits()).report_to(&mut damage);
    let mut depths = [Depth::Bits8; CHANNELS];
    depths.iter_mut().zip(&block.channels).for_each(|(depth, channel)| *depth = channel.depth);
    let layout = BlockLayout { size: block.size, depths };
    compare(data, &layout);
    // The sizes of another layout: the verifier then leaves the block to the decoder, which reports it.
    compare(data, &BlockLayout { size: layout.size.map(|n| n ^ 1), depths });
}

/// A block, packed as the engine packs, under a layout.
pub(super) fn block(plain: &[u8], layout: &BlockLayout) {
    let mut packed = Vec::new();
    container::encode(Mode::Lz4, plain, &mut packed);
    compare(&packed, layout);
}

/// What is verified has no damage by the decoder, and the same header, channels and length.
fn compare(data: &[u8], layout: &BlockLayout) {
    let Some(verified) = Verifier::default().verify(data, layout, &limits()) else { return };
    let (mut decoder, mut damage) = (Decoder::default(), Vec::new());
    let found = decoder.decode(data, &limits()).report_to(&mut damage);
    let block = block::decode(found.plain, Some(layout), None, &limits()).report_to(&mut damage);
    assert!(damage.is_empty() && found.whole, "verified, but the decoder reports {damage:?}");
    let metadata = block.metadata.as_ref().map_or((0, 0), |metadata| (metadata.declared, metadata.items()));
    assert_eq!((verified.metadata_bytes, verified.metadata_items), metadata, "other metadata is verified");
    assert_eq!((verified.version, verified.size), (block.version, block.size), "another header is verified");
    assert_eq!(verified.plain as usize, found.plain.len(), "another length is verified");
    let channels: Vec<(Depth, Storage)> = block.channels.iter().map(|c| (c.depth, c.storage)).collect();
    assert_eq!(verified.channels[..], channels[..], "other channels are verified");
}
