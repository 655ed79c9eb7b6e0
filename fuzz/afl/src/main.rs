//! Every target under AFL++: which one, says the environment variable `VOXSCOPE_TARGET`.

fn main() {
    let name = std::env::var("VOXSCOPE_TARGET").unwrap_or_default();
    assert!(voxscope_fuzz::oracles::find(&name).is_some(), "VOXSCOPE_TARGET={name} is no target");
    afl::fuzz!(|data: &[u8]| {
        voxscope_fuzz::fuzz(&name, data);
    });
}
