#!/usr/bin/env python3
"""Writes the arrays in `npy/` and what NumPy reads in them. Run once; what it wrote is committed.

    pip install numpy && python3 tests/data/make_npy.py
"""

import json
import shutil
from pathlib import Path

import numpy as np

OUT = Path(__file__).parent / "npy"
WATER = 1


def save(path, array, version=None):
    with open(path, "wb") as file:
        np.lib.format.write_array(file, array, version=version)


def arrays():
    """Arrays of all kinds, each with its numbers in C order (floating-point ones by their bits)."""
    random = np.random.default_rng(7)
    wide = np.iinfo(np.int64)
    expected = {}
    for name, shape in [("0d", ()), ("empty", (0, 3)), ("1d", (5,)), ("2d", (3, 4)), ("3d", (2, 3, 4)), ("4d", (2, 3, 2, 2))]:
        for code in ["<i4", ">i4", "<i8", ">i8", "<f4", ">f4"]:
            for order in "CF":
                for version in [(1, 0), (2, 0), (3, 0)]:
                    if version != (1, 0) and (code, name) != ("<i4", "3d"):
                        continue
                    if code.endswith("f4"):
                        array = random.normal(size=shape).astype(np.float32)
                        flat = array.reshape(-1)
                        if array.size > 4:
                            flat[:4] = [np.nan, np.inf, -0.0, 1e-40]
                        numbers = flat.view(np.uint32).tolist()
                    else:
                        info = np.iinfo(code)
                        array = random.integers(info.min, info.max, size=shape, endpoint=True, dtype=np.int64)
                        numbers = np.asarray(array).reshape(-1).tolist()
                    array = np.asarray(array, dtype=np.dtype(code), order=order)
                    name_of_code = code.replace("<", "le_").replace(">", "be_")
                    file = f"{name}_{name_of_code}_{order}_v{version[0]}.npy"
                    save(OUT / "arrays" / file, array, version)
                    again = np.load(OUT / "arrays" / file)
                    assert again.shape == shape and again.tobytes() == array.tobytes()
                    expected[file] = {
                        "descr": code[1:],
                        "big": code[0] == ">",
                        "fortran": not again.flags.c_contiguous,
                        "shape": list(shape),
                        "numbers": numbers,
                    }
    (OUT / "arrays" / "expected.json").write_text(json.dumps(expected, indent=0))


def layer(name, dim, **fields):
    return {
        "name": name,
        "type": "Global",
        "format": "dense",
        "blockSize": 0,
        "dataFile": "",
        "depthFile": "",
        "indexFile": "",
        "blockCount": 0,
        "origin": [-3.25, 1.0, 100.5],
        "step": [0.5, 1.0, 1.5],
        "dim": list(dim),
    } | fields


def histogram(flags):
    flags = flags.reshape(-1).astype(np.uint64)
    known = np.uint64((1 << 25) - 1)
    water = (flags & np.uint64(1)) != 0
    return {
        "voxels": int(flags.size),
        "set": int(np.count_nonzero(flags)),
        "flags": [int(np.count_nonzero(flags & np.uint64(1 << bit))) for bit in range(25)],
        "open_water": int(np.count_nonzero((flags & known) == 1)),
        "dry": int(np.count_nonzero(~water & ((flags & known) > 1))),
        "unknown": int(np.count_nonzero(flags & ~known)),
    }


def sparse(name, dim, blocks, dtype, order):
    """A map of sparse blocks and what is at every 97th cell of it."""
    random = np.random.default_rng(len(name))
    out = OUT / name
    out.mkdir()
    size = [-(-d // 16) * 16 for d in dim]
    whole = np.zeros(size, dtype=np.int64)
    index = np.array(blocks, dtype=np.int32)
    data = np.zeros((len(blocks), 16, 16, 16), dtype=np.int64)
    for number, block in enumerate(blocks):
        ground = random.integers(0, 8, size=(16, 1, 16))
        for y in range(16):
            data[number, :, y : y + 1, :] = np.where(ground < y, WATER, 0) | np.where(ground == y, 1 << 10, 0)
        if number == 0:
            data[number] |= (random.random((16, 16, 16)) < 0.02) * (1 << 24)
        x, y, z = (np.array(block) * 16).tolist()
        whole[x : x + 16, y : y + 16, z : z + 16] = data[number]
        # Nothing beyond dim.
        whole[dim[0] :] = whole[:, dim[1] :] = whole[:, :, dim[2] :] = 0
        data[number] = whole[x : x + 16, y : y + 16, z : z + 16]
    depth = (random.random((dim[0], dim[2])) * 9 + 0.5).astype(np.float32)
    shallow = [(0, 0), (3, 5), (17, 2)]
    for (x, z), value in zip(shallow, [0.0, -1.5, np.nan]):
        depth[x, z] = value
    save(out / "data.npy", np.asarray(data.astype(dtype), order=order))
    save(out / "index.npy", np.asarray(index, order=order))
    save(out / "depth.npy", np.asarray(depth, order=order))
    description = {
        "mapID": 1,
        "timestamp": "2026-01-07 15:40:37",
        "waterSurfaceLevel": 9.5,
        "global": layer(
            name,
            dim,
            format="block_sparse",
            blockSize=16,
            dataFile="data.npy",
            depthFile="depth.npy",
            indexFile="index.npy",
            blockCount=len(blocks),
        ),
        "locals": [],
    }
    (out / "map_data.json").write_text(json.dumps(description, indent=4))
    data, index, depth = (np.load(out / f"{f}.npy") for f in ("data", "index", "depth"))
    rows = {tuple(block): row for row, block in enumerate(index.tolist())}
    cells = []
    for number in range(0, int(np.prod(dim)), 97):
        x, y, z = (int(n) for n in np.unravel_index(number, dim))
        row = rows.get((x // 16, y // 16, z // 16))
        value = None if row is None else int(data[row, x % 16, y % 16, z % 16])
        cells.append([x, y, z, row, value, int(depth.view(np.uint32)[x, z])])
    columns = [(x, z) for x, z in shallow if x < dim[0] and z < dim[2]]
    water = int(sum(np.count_nonzero(whole[x, :, z] & 1) for x, z in columns))
    fine = depth[(depth > 0)]
    expected = {
        "cells": cells,
        "histogram": histogram(data.astype(np.int64)),
        "blocks": [histogram(block.astype(np.int64))["flags"] for block in data],
        "water_without_depth": water,
        "range": [float(fine.min()), float(fine.max())],
    }
    (out / "expected.json").write_text(json.dumps(expected))


def main():
    shutil.rmtree(OUT, ignore_errors=True)
    (OUT / "arrays").mkdir(parents=True)
    arrays()
    sparse("sparse_i4", (36, 20, 30), [(1, 0, 1), (0, 0, 0), (2, 1, 0)], "<i4", "C")
    sparse("sparse_i4_fortran_big", (20, 16, 17), [(1, 0, 1), (0, 0, 0)], ">i4", "F")
    sparse("sparse_i8", (32, 16, 16), [(1, 0, 0)], "<i8", "C")


main()
