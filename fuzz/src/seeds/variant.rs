use voxscope::godot::variant::{Dialect, Kind, Object, Text, Type, Variant};

use super::{Seeds, Set, cut, joined, noise, patched};

fn bytes(variant: &Variant<'_>, dialect: Dialect) -> Vec<u8> {
    let mut out = Vec::new();
    variant.encode(dialect, &mut out);
    out
}

/// One value of a type that is not made of others.
fn sample(ty: Type) -> Variant<'static> {
    match ty {
        Type::Nil => Variant::Nil,
        Type::Bool => Variant::bool(true),
        Type::Int => Variant::int(-7),
        Type::Float => Variant::float(0.5),
        Type::String => Variant::string("stone \u{77f3}"),
        Type::StringName => Variant::string_name("stone"),
        Type::NodePath => Variant::node_path(true, &["root", "World"], &["position", "x"]),
        Type::Rid => Variant::Rid(9),
        Type::Object => Variant::object("Node", vec![(Text::new("name"), Variant::string("n"))]),
        Type::Callable => Variant::Callable,
        Type::Signal => Variant::signal("hit", 1 << 40),
        Type::Dictionary => Variant::dictionary(vec![
            (Variant::string("b"), Variant::int(1)),
            (Variant::string_name("a"), Variant::dictionary(vec![])),
            (Variant::int(2), Variant::Nil),
        ]),
        Type::Array => Variant::array(vec![Variant::int(1), Variant::array(vec![]), Variant::string("x")]),
        Type::PackedStringArray => Variant::packed_strings(&["a", "", "stone"]),
        Type::PackedByteArray => Variant::packed_bytes(noise(13)),
        _ => {
            let made = |n| Variant::math(ty, false, noise(n)).or_else(|| Variant::packed(ty, false, noise(n)));
            (1..200).rev().find_map(made).unwrap_or_default()
        }
    }
}

/// Those of one engine, `g3` or `g4`; what is of none is of both.
pub(super) fn seeds(of: &str) -> Seeds {
    let other = if of == "g3" { "g4" } else { "g3" };
    every().into_iter().filter(|(name, _)| !name.starts_with(other)).collect()
}

fn every() -> Seeds {
    let mut set = Set::default();
    for (dialect, short) in [(Dialect::Godot3, "g3"), (Dialect::Godot4, "g4")] {
        for &ty in Type::all(dialect) {
            let name = ty.name(Dialect::Godot4).to_lowercase();
            let healthy = bytes(&sample(ty), dialect);
            set.add(format!("{short}_{name}"), healthy.clone());
            // Of the others the targets that build values make such.
            if ty.is_packed() {
                set.add(format!("{short}_{name}_cut"), cut(&healthy, 1));
            }
            if ty.is_packed() {
                set.add(format!("{short}_{name}_count_4gi"), patched(&healthy, 4, &[0xff; 4]));
            }
        }
        wrong(&mut set, dialect, short);
    }
    wide(&mut set);
    typed(&mut set);
    set.add("empty", []);
    set.add("three_bytes", [2, 0, 0]);
    set.0
}

/// Damage that both dialects know.
fn wrong(set: &mut Set, dialect: Dialect, short: &str) {
    let mut add = |name: &str, bytes: Vec<u8>| set.add(format!("{short}_{name}"), bytes);
    let of = |variant: &Variant<'_>| bytes(variant, dialect);
    let number = |ty: Type| ty.number(dialect).unwrap_or(0).to_le_bytes();
    let last = Type::all(dialect).len() as u8;
    add("type_unknown", vec![last, 0, 0, 0]);
    add("type_255", vec![255, 0, 0, 0, 1, 2, 3, 4]);
    add("flags_unknown", vec![2, 0, 0, 0x80, 1, 0, 0, 0]);
    add("flags_in_the_middle", vec![2, 1, 0, 0, 1, 0, 0, 0]);
    add("bool_2", patched(&of(&Variant::bool(true)), 4, &[2]));
    add("int_wide_but_small", vec![2, 0, 1, 0, 5, 0, 0, 0, 0, 0, 0, 0]);
    add("int_least", of(&Variant::int(i64::MIN)));
    for (name, value) in [("nan", f64::NAN), ("inf", f64::INFINITY), ("minus_zero", -0.0), ("least", 5e-324)] {
        add(&format!("float_{name}"), of(&Variant::float(value)));
    }
    add("float_nan_with_payload", vec![3, 0, 1, 0, 1, 2, 3, 4, 5, 6, 0xf0, 0x7f]);
    let text = of(&Variant::string("abcde"));
    add("string_not_utf8", patched(&text, 9, &[0xff]));
    add("string_padding_not_zero", patched(&text, text.len() - 1, &[9]));
    add("string_length_4gi", patched(&text, 4, &[0xff; 4]));
    add("string_without_padding", cut(&text, 3));
    add("string_hostile", of(&Variant::string("\u{1b}[2J\u{9b}31m\r\n\0\u{202e}\u{200b}\u{180e}\u{feff}\"\\")));
    add("string_empty", of(&Variant::string("")));
    let path = of(&sample(Type::NodePath));
    add("node_path_old", patched(&path, 7, &[0]));
    add("node_path_extra_subname", patched(&path, 12, &[3]));
    add("node_path_names_2gi", patched(&path, 4, &[0xff; 8]));
    add("node_path_empty", of(&Variant::node_path(false, &[], &[])));
    let strings = of(&sample(Type::PackedStringArray));
    add("strings_not_utf8", patched(&strings, 12, &[0xff]));
    add("object_null", of(&Variant::Object(Object::Null)));
    add("object_id", of(&Variant::Object(Object::Id(77))));
    add("object_bare", of(&Variant::object("Node", vec![])));
    let object = of(&sample(Type::Object));
    add("object_count_4gi", patched(&object, 12, &[0xff; 4]));
    let array = of(&Variant::array(vec![Variant::Nil; 3]));
    add("array_shared", patched(&array, 7, &[0x80]));
    add("array_count_2gi", patched(&array, 4, &[0xff; 4]));
    add("array_one_too_few", cut(&array, 4));
    add("array_long", of(&Variant::array(vec![Variant::Nil; 2000])));
    add("bytes_padding_not_zero", patched(&of(&sample(Type::PackedByteArray)), 22, &[1]));
    let dictionary = of(&sample(Type::Dictionary));
    add("dictionary_shared", patched(&dictionary, 7, &[0x80]));
    add("dictionary_count_2gi", patched(&dictionary, 4, &[0xff; 4]));
    add("dictionary_key_twice", of(&Variant::dictionary(vec![(Variant::int(1), Variant::Nil); 2])));
    let mixed = [Type::String, Type::Nil, Type::Float, Type::Vector2, Type::Bool, Type::Int, Type::Color];
    let pairs = mixed.into_iter().chain(mixed).map(|ty| (sample(ty), sample(ty))).collect();
    add("dictionary_keys_of_all_kinds", of(&Variant::dictionary(pairs)));
    add("trailing", joined(&text, &[1, 2, 3, 4]));

    let nested = |depth: usize| [&number(Type::Array)[..], &[1, 0, 0, 0]].concat().repeat(depth);
    add("nested_20", joined(&nested(20), &[0; 4]));
    // As deep as `limits()` allows, and one more.
    add("nested_1000_deep_healthy", joined(&nested(1000), &[0; 4]));
    add("nested_1001_deep", joined(&nested(1001), &[0; 4]));
    let objects = [&number(Type::Object)[..], &[1, 0, 0, 0, 65, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]].concat();
    add("nested_objects", joined(&objects.repeat(30), &[0; 4]));
    let keys = [&number(Type::Dictionary)[..], &[1, 0, 0, 0]].concat();
    add("nested_keys", joined(&keys.repeat(50), &[0; 204]));
}

/// What an engine built with doubles writes.
fn wide(set: &mut Set) {
    for &ty in Type::GODOT_4 {
        let made = |n| Variant::math(ty, true, noise(n)).or_else(|| Variant::packed(ty, true, noise(n)));
        if let Some(variant) = (1..200).rev().find_map(made) {
            set.add(
                format!("g4_{}_doubles", ty.name(Dialect::Godot4).to_lowercase()),
                bytes(&variant, Dialect::Godot4),
            );
        }
    }
}

/// Arrays and dictionaries that declare what is in them.
fn typed(set: &mut Set) {
    let class = || Kind::Class(Box::new(Text::new("Node")));
    let script = || Kind::Script(Box::new(Text::new("res://a.gd")));
    let kinds = [("builtin", Kind::Builtin(Type::Int)), ("class", class()), ("script", script())];
    for (name, kind) in kinds {
        let array = bytes(&Variant::typed_array(kind.clone(), vec![Variant::int(1)]), Dialect::Godot4);
        set.add(format!("g4_array_of_{name}"), array.clone());
        set.add(format!("g4_array_of_{name}_cut"), array[..6].to_vec());
        set.add(format!("g4_array_of_{name}_4gi"), patched(&array, 4, &[0xff; 4]));
        let pairs = vec![(Variant::int(1), Variant::string("x"))];
        let dictionary = Variant::typed_dictionary(kind.clone(), Kind::Builtin(Type::String), pairs);
        set.add(format!("g4_dictionary_by_{name}"), bytes(&dictionary, Dialect::Godot4));
        let dictionary = Variant::typed_dictionary(Kind::Untyped, kind, vec![]);
        set.add(format!("g4_dictionary_to_{name}"), bytes(&dictionary, Dialect::Godot4));
    }
}
