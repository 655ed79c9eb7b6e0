//! Whatever is written is read back, and whatever is read is written back.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn text() -> impl Strategy<Value = Text<'static>> {
    ".{0,6}".prop_map(Text::new)
}

fn numbers(dialect: Dialect) -> impl Strategy<Value = Variant<'static>> {
    let types: Vec<Type> = Type::all(dialect).iter().copied().filter(|ty| ty.layout().is_some()).collect();
    let raw = vec(any::<u8>(), 4 * 16 * 8);
    (proptest::sample::select(types), any::<bool>(), 0_usize..4, raw).prop_map(move |(ty, wide, n, mut raw)| {
        let layout = ty.layout().unwrap();
        let wide = wide && dialect == Godot4 && layout.bytes(true) != layout.bytes(false);
        raw.truncate(layout.bytes(wide) * if ty.is_packed() { n } else { 1 });
        let made = if ty.is_packed() { Variant::packed(ty, wide, raw) } else { Variant::math(ty, wide, raw) };
        made.unwrap()
    })
}

fn kind(dialect: Dialect) -> BoxedStrategy<Kind<'static>> {
    if dialect == Godot3 {
        return Just(Kind::Untyped).boxed();
    }
    prop_oneof![
        Just(Kind::Untyped),
        proptest::sample::select(Type::GODOT_4).prop_map(Kind::Builtin),
        text().prop_map(|t| Kind::Class(Box::new(t))),
        text().prop_map(|t| Kind::Script(Box::new(t))),
    ]
    .boxed()
}

fn variant(dialect: Dialect) -> impl Strategy<Value = Variant<'static>> {
    let both = prop_oneof![
        Just(Variant::Nil),
        any::<u32>().prop_map(Variant::Bool),
        any::<i64>().prop_map(Variant::int),
        any::<i32>().prop_map(|n| Variant::int(n.into())),
        any::<i32>().prop_map(|n| Variant::Int { value: n.into(), wide: true }),
        any::<u32>().prop_map(|bits| Variant::Float(Float::Single(bits))),
        any::<u64>().prop_map(|bits| Variant::Float(Float::Double(bits))),
        any::<f64>().prop_map(Variant::float),
        text().prop_map(Variant::String),
        numbers(dialect),
        numbers(dialect),
        (any::<bool>(), vec(".{0,4}", 0..4), vec(".{0,4}", 0..3)).prop_map(|(absolute, names, subnames)| {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let subnames: Vec<&str> = subnames.iter().map(String::as_str).collect();
            Variant::node_path(absolute, &names, &subnames)
        }),
        vec(".{0,4}", 0..4).prop_map(|s| Variant::packed_strings(&s.iter().map(String::as_str).collect::<Vec<_>>())),
        any::<u64>().prop_map(|id| Variant::Object(Object::Id(id))),
        Just(Variant::Object(Object::Null)),
    ];
    let only = match dialect {
        Godot3 => Just(Variant::Rid(0)).boxed(),
        Godot4 => prop_oneof![
            any::<u64>().prop_map(Variant::Rid),
            text().prop_map(Variant::StringName),
            Just(Variant::Callable),
            (text(), any::<u64>()).prop_map(|(name, object)| Variant::Signal { name, object }),
        ]
        .boxed(),
    };
    prop_oneof![4 => both, 1 => only].prop_recursive(5, 60, 6, move |inner| {
        let pairs = vec((inner.clone(), inner.clone()), 0..5);
        prop_oneof![
            (any::<bool>(), kind(dialect), vec(inner.clone(), 0..6))
                .prop_map(|(shared, kind, items)| Variant::Array(Array { shared, kind, items })),
            (any::<bool>(), kind(dialect), kind(dialect), pairs)
                .prop_map(|(shared, key, value, pairs)| Variant::Dictionary(Dictionary { shared, key, value, pairs })),
            (".{0,4}", vec((text(), inner), 0..4)).prop_map(|(class, properties)| Variant::object(class, properties)),
        ]
    })
}

fn check(value: &Variant<'_>, dialect: Dialect) -> Result<(), TestCaseError> {
    let mut bytes = Vec::new();
    value.encode(dialect, &mut bytes);
    prop_assert!(bytes.len().is_multiple_of(4));
    let (back, damage) = read(&bytes, dialect);
    prop_assert_eq!(damage, vec![]);
    prop_assert_eq!(back.as_ref(), Some(value));
    prop_assert!(!value.text(dialect).chars().any(|c| c.is_control() && c != '\n'));
    let mut text = Vec::new();
    value.write_json(dialect, &mut text);
    prop_assert_eq!(String::from_utf8(text).unwrap(), value.to_json(dialect).to_string());
    Ok(())
}

proptest! {
    #[test]
    fn godot_3_values_come_back(value in variant(Godot3)) {
        check(&value, Godot3)?;
    }

    #[test]
    fn godot_4_values_come_back(value in variant(Godot4)) {
        check(&value, Godot4)?;
    }

    #[test]
    fn any_bytes_are_read_or_refused(
        header in 0_u8..40,
        flags in 0_u8..16,
        rest in vec(prop_oneof![4 => 0_u8..4, 1 => any::<u8>()], 0..200),
    ) {
        for dialect in [Godot3, Godot4] {
            let bytes = cat(&[&[header, 0, flags, 0], &rest]);
            let (mut cursor, mut damage) = (Cursor::new(&bytes), Vec::new());
            match decode(&mut cursor, dialect, &mut budget()).report_to(&mut damage) {
                Some(value) => {
                    let mut out = Vec::new();
                    value.encode(dialect, &mut out);
                    prop_assert_eq!(&out[..], &bytes[..bytes.len() - cursor.remaining()]);
                }
                None => prop_assert!(!damage.is_empty()),
            }
            let all = Span::sized(0, bytes.len() as u64);
            prop_assert!(damage.iter().all(|d| all.contains(&d.span)));
        }
    }
}
