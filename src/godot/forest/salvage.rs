//! What is left of a meta file that is not JSON as a whole: its fields one by one.

use serde_json::{Map, Value as Json};

use super::{Fields, KNOWN, Meta};
use crate::bytes::{Span, len64};
use crate::limits::{Limits, count_json_values};

impl Meta {
    /// The fields that can be read in a meta file that [`Meta::decode`] refuses; `None` if there are none. A field whose end
    /// was cut off is left out: `51` may have been `512`.
    #[must_use]
    pub fn salvage(data: &[u8]) -> Option<Self> {
        if count_json_values(data) > Limits::DEFAULT.json_values {
            return None;
        }
        let fields = KNOWN.iter().filter_map(|name| Some(((*name).to_owned(), value_of(data, name)?)));
        let object: Map<String, Json> = fields.collect();
        if object.is_empty() {
            return None;
        }
        let damage = &mut Vec::new();
        Some(Self::of_fields(&mut Fields { object: &object, all: Span::sized(0, len64(data)), damage }))
    }
}

/// The value of the only field of this name, if it is whole.
fn value_of(data: &[u8], name: &str) -> Option<Json> {
    let key = format!("\"{name}\"");
    let mut places = data.windows(key.len()).zip(0_usize..).filter(|(text, _)| *text == key.as_bytes());
    let (Some((_, at)), None) = (places.next(), places.next()) else { return None };
    let rest = data.get(at.checked_add(key.len())?..)?.trim_ascii_start().strip_prefix(b":")?;
    let mut values = serde_json::Deserializer::from_slice(rest).into_iter::<Json>();
    let value = values.next()?.ok()?;
    let after = rest.get(values.byte_offset()..)?.trim_ascii_start();
    matches!(after.first(), Some(b',' | b'}')).then_some(value)
}

#[cfg(test)]
mod tests {
    use crate::godot::channel::{CHANNELS, Depth};
    use crate::godot::forest::Meta;

    const WHOLE: &str = r#"{"block_size_po2": 4, "channel_depths": [0,1,0,0,0,0,0,0], "region_size_po2": 5, "sector_size": 512, "version": 2}"#;

    fn depths() -> [Depth; CHANNELS] {
        let mut depths = [Depth::Bits8; CHANNELS];
        depths[1] = Depth::Bits16;
        depths
    }

    #[test]
    fn one_wrong_byte_costs_one_field() {
        let text = WHOLE.replace("region_size", "region\u{0}size");
        assert!(Meta::decode(text.as_bytes()).value.is_none());
        let expected = Meta {
            version: Some(2),
            block_size_po2: Some(4),
            sector_size: Some(512),
            depths: Some(depths()),
            ..Meta::default()
        };
        assert_eq!(Meta::salvage(text.as_bytes()), Some(expected));
    }

    #[test]
    fn a_value_whose_end_is_cut_off_is_left_out() {
        let end = WHOLE.find("12, \"version").unwrap();
        for more in 0..4 {
            let meta = Meta::salvage(&WHOLE.as_bytes()[..end + more]).unwrap();
            assert_eq!(meta.region_size_po2, Some(5));
            assert_eq!(meta.sector_size, (more == 3).then_some(512), "{more}");
        }
    }

    #[test]
    fn a_field_that_is_there_twice_is_nothing_to_go_by() {
        let text = WHOLE.replace("\"version\"", "\"sector_size\": 600, !");
        assert_eq!(Meta::salvage(text.as_bytes()).unwrap().sector_size, None);
    }

    #[test]
    fn nothing_is_found_in_other_files() {
        for data in [&b""[..], b"{", b"VXR_\x03", b"{\"version\"", b"\"version\":", b"{\"version\": nul, }"] {
            assert_eq!(Meta::salvage(data), None, "{}", data.escape_ascii());
        }
    }
}
