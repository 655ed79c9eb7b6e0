//! Finds the spans of layers in the text, which the JSON parser does not return.
//!
//! The text is valid JSON, so only strings and brackets must be distinguished. No recursion: brackets are
//! counted.

use crate::bytes::{Span, len64};
use crate::voxel_map::map_json::slice;

/// The bytes of each layer, in the order of [`MapData::layers`](super::MapData::layers); for a text that is JSON.
#[must_use]
pub fn layer_spans(data: &[u8]) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut global = None;
    let mut locals = None;
    let start = data.iter().position(|&b| b == b'{').map_or(len64(data), |at| u64::try_from(at).unwrap_or(u64::MAX));
    for part in parts(data, Span::new(start, len64(data))) {
        // A field is `"name": value`, and of two with one name the last counts.
        let text = slice(data, part);
        let Some(name) = string_at_start(text) else { continue };
        let colon = name.saturating_add(leading(text.get(name..).unwrap_or_default(), |b| b != b':')).saturating_add(1);
        let value = text.get(colon..).unwrap_or_default();
        let blank = leading(value, |b| b.is_ascii_whitespace());
        let skipped = u64::try_from(colon.saturating_add(blank)).unwrap_or(u64::MAX);
        let span = Span::new(part.start.saturating_add(skipped), part.end);
        match serde_json::from_slice::<String>(text.get(..name).unwrap_or_default()).as_deref() {
            Ok("global") => global = Some(span),
            Ok("locals") => locals = Some(span),
            _ => {}
        }
    }
    let is = |span: &Span, bracket: u8| slice(data, *span).first() == Some(&bracket);
    spans.extend(global.filter(|span| is(span, b'{')));
    if let Some(span) = locals.filter(|span| is(span, b'[')) {
        spans.extend(parts(data, span));
    }
    spans
}

/// The spans of the elements of the list or object that `span` begins with, without surrounding space.
fn parts(data: &[u8], span: Span) -> Vec<Span> {
    let mut parts = Vec::new();
    let mut depth = 0u64;
    let mut quoted = false;
    let mut escaped = false;
    let mut part: Option<Span> = None;
    for (at, &byte) in (span.start..).zip(slice(data, span)) {
        let mut inside = depth > 0;
        if quoted {
            quoted = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
        } else {
            match byte {
                b'"' => quoted = true,
                b'{' | b'[' => depth = depth.saturating_add(1),
                b'}' | b']' => {
                    depth = depth.saturating_sub(1);
                    inside = depth > 0;
                }
                b',' if depth == 1 => {
                    parts.extend(part.take());
                    continue;
                }
                b if b.is_ascii_whitespace() => continue,
                _ => {}
            }
        }
        if inside {
            let end = at.saturating_add(1);
            part = Some(Span::new(part.map_or(at, |part| part.start), end));
        } else if depth == 0 {
            break;
        }
    }
    parts.extend(part);
    parts
}

/// The length of the string, quotes included, that the text begins with.
fn string_at_start(text: &[u8]) -> Option<usize> {
    let inside = text.strip_prefix(b"\"")?;
    let mut escaped = false;
    let end = inside.iter().position(|&b| {
        let ends = b == b'"' && !escaped;
        escaped = b == b'\\' && !escaped;
        ends
    })?;
    end.checked_add(2)
}

fn leading(text: &[u8], is: impl Fn(u8) -> bool) -> usize {
    text.iter().take_while(|&&b| is(b)).count()
}
