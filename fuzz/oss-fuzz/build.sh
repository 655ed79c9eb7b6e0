#!/bin/bash -eu
# Builds every target with its seeds and its dictionary, for OSS-Fuzz and for ClusterFuzzLite.
cd "$SRC/voxscope"
cargo fuzz build -O --debug-assertions
release=fuzz/target/x86_64-unknown-linux-gnu/release
for target in $(cargo fuzz list); do
    cp "$release/$target" "$OUT/"
    seeds=("corpus/$target")
    if [ -d "corpus/regressions/$target" ]; then seeds+=("corpus/regressions/$target"); fi
    # A seed and a regression may have the same name; their paths differ.
    zip -q -r "$OUT/${target}_seed_corpus.zip" "${seeds[@]}"
    if dictionary=$(fuzz/dictionary "$target" 2> /dev/null) && [ "${target%_built}" = "$target" ]; then
        cp "fuzz/dictionaries/$dictionary.dict" "$OUT/$target.dict"
    fi
    printf '[libfuzzer]\ntimeout = 5\nrss_limit_mb = 1024\n' > "$OUT/$target.options"
done
