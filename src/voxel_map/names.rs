//! What the names of a map's directory and files say: `Fishing_1006001` and `Fishing_1006001_LocalStock_zone_-2166.npy`.
//!
//! Source: a real export. Maps made by hand have other names.

/// Scene and id of a map, and the layer that follows them in the name of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named<'a> {
    /// The scene; empty if the name is a number alone.
    pub scene: &'a str,
    /// The id of the map.
    pub id: i64,
    /// The layer, without the ending of the file; empty for a directory.
    pub layer: &'a str,
}

/// What the name of a directory says: `SCENE_ID`, or `ID`.
#[must_use]
pub fn of_dir(name: &str) -> Option<Named<'_>> {
    if let Some(id) = number(name) {
        return Some(Named { scene: "", id, layer: "" });
    }
    let (scene, id) = name.rsplit_once('_')?;
    Some(Named { scene, id: number(id)?, layer: "" }).filter(|named| !named.scene.is_empty())
}

/// What the name of a data file says: `SCENE_ID_LAYER.npy`.
#[must_use]
pub fn of_file(name: &str) -> Option<Named<'_>> {
    let name = name.strip_suffix(".npy").unwrap_or(name);
    let mut at = name.match_indices('_').map(|(at, _)| at);
    at.find_map(|at| {
        let (scene, rest) = name.split_at_checked(at)?;
        let (id, layer) = rest.strip_prefix('_')?.split_once('_')?;
        Some(Named { scene, id: number(id)?, layer }).filter(|named| !named.scene.is_empty())
    })
}

fn number(text: &str) -> Option<i64> {
    let is_number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_directories_and_files_have_a_scene_an_id_and_a_layer() {
        let named = |scene, id, layer| Some(Named { scene, id, layer });
        assert_eq!(of_dir("Fishing_1006001"), named("Fishing", 1_006_001, ""));
        assert_eq!(of_dir("1006001"), named("", 1_006_001, ""));
        assert_eq!(
            of_file("Fishing_1006001_LocalStock_zone (3)_-2166.npy"),
            named("Fishing", 1_006_001, "LocalStock_zone (3)_-2166")
        );
        assert_eq!(of_file("North_Lake_2001_Global.npy"), named("North_Lake", 2001, "Global"));
        assert_eq!(of_file("Lake_7_Global_depth.npy"), named("Lake", 7, "Global_depth"));
        for name in ["dense_int32", "Fishing", "_1006001", "Fishing_-1006001", "", "99999999999999999999"] {
            assert_eq!(of_dir(name), None, "{name}");
        }
        assert_eq!(of_file("Lake_Global.npy"), None);
    }
}
