//! Seeds of the explorer: a file of each kind, and a way through every pane.

use voxscope::tui::action::{ACTIONS, Action};
use voxscope::tui::pane::Pane;
use voxscope::voxel_map::npy::{Dtype, Npy};

use super::{Seeds, Set, pak, region};

/// Seeds of the format of a kind that are small enough to have a way before them.
const MOST_BYTES: usize = 4 << 10;

pub fn seeds() -> Seeds {
    let mut set = Set::default();
    let kinds = [(0u8, "region", region::seeds()), (1, "pak", pak::seeds())];
    for (kind, name, files) in kinds {
        for (file, bytes) in files.into_iter().filter(|(_, bytes)| bytes.len() <= MOST_BYTES).take(8) {
            // Healthy there may be without a block here.
            set.add(format!("{name}_{}", file.replace("_healthy", "")), with_way(kind, &bytes));
            if kind == 0 {
                set.add(format!("two_{}", file.replace("_healthy", "")), with_way(128 + kind, &bytes));
            }
        }
    }
    for (name, dtype) in [("int32", Dtype::I32), ("int64", Dtype::I64)] {
        set.add(format!("dense_{name}"), with_way(3, &array(dtype, &[16, 10, 16])));
    }
    let mut sparse = array(Dtype::I32, &[1, 16, 16, 16]);
    sparse.truncate(MOST_BYTES);
    sparse.extend(array(Dtype::I32, &[1, 3]));
    set.add("sparse_cut", with_way(4, &sparse));
    set.add("description", with_way(2, br#"{"mapID":1,"timestamp":"","global":null,"locals":[]}"#));
    set.0
}

/// An array of flags that are not all the same.
fn array(dtype: Dtype, shape: &[u64]) -> Vec<u8> {
    let npy = Npy::new(dtype, shape);
    let mut out = npy.encode(16);
    let wide = if dtype == Dtype::I64 { 8 } else { 4 };
    for number in 0..shape.iter().product::<u64>().min(400) {
        out.extend(((number % 3) | (number % 7) << 11).to_le_bytes().into_iter().take(wide));
    }
    out
}

/// A file behind a way that leads through all panes, some sizes, a click and a place that is gone to.
fn with_way(kind: u8, file: &[u8]) -> Vec<u8> {
    let mut events: Vec<[u8; 3]> = vec![key(Action::NextFinding)];
    for pane in Pane::ALL {
        events.extend([key(Action::Pane(pane)), key(Action::Down), key(Action::Enter), [200, 20, 5]]);
    }
    if kind >= 128 {
        let seen = [Action::Pane(Pane::Diff), Action::NextChange, Action::Enter, Action::Toggle, Action::NextChannel];
        events.extend(seen.map(key));
        events.extend([Action::Toggle, Action::AxisX, Action::Close, Action::NextLook].map(key));
    }
    events.extend([[220, 40, 10], [240, 0, 1], key(Action::Bytes), key(Action::Help)]);
    let mut out = vec![kind, u8::try_from(events.len()).unwrap_or(u8::MAX)];
    out.extend(events.into_iter().flatten());
    out.extend_from_slice(file);
    out
}

/// The event that is an action's first key.
fn key(action: Action) -> [u8; 3] {
    let before = ACTIONS.iter().take_while(|spec| spec.action != action).map(|spec| spec.keys.len()).sum::<usize>();
    [u8::try_from(before).unwrap_or(0), 0, 0]
}
