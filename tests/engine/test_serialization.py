"""`save` and `load`: what goes in comes out, and nothing is executed."""

from __future__ import annotations

import io
import math
import pickle
import random
import zipfile
from collections import OrderedDict

import numpy as np
import pytest
from tiers import examples

import minigrad

pytestmark = pytest.mark.quick


def through(obj, tmp_path):
    path = tmp_path / "file.pt"
    minigrad.save(obj, path)
    return minigrad.load(path)


def test_a_state_dict_comes_back(tmp_path):
    minigrad.manual_seed(0)
    model = minigrad.nn.Sequential(minigrad.nn.Embedding(3, 2), minigrad.nn.BatchNorm1d(2))
    state = through(model.state_dict(), tmp_path)
    other = minigrad.nn.Sequential(minigrad.nn.Embedding(3, 2), minigrad.nn.BatchNorm1d(2))
    assert isinstance(state, OrderedDict) and list(state) == list(model.state_dict())
    other.load_state_dict(state)
    assert all(bool((a == b).all()) for a, b in zip(model.state_dict().values(), other.state_dict().values()))
    assert state["1.num_batches_tracked"].dtype is minigrad.int64


def test_an_optimiser_goes_on_where_it_was(tmp_path):
    weight = minigrad.nn.Parameter(minigrad.tensor([1.0, 2.0]))
    optimizer = minigrad.optim.Adam([weight], lr=0.1)
    (weight**2).sum().backward()
    optimizer.step()
    loaded = through({"optimizer": optimizer.state_dict(), "epoch": 3}, tmp_path)
    other = minigrad.optim.Adam([weight])
    other.load_state_dict(loaded["optimizer"])
    assert loaded["epoch"] == 3 and other.param_groups[0]["lr"] == 0.1
    assert other.param_groups[0]["betas"] == (0.9, 0.999)
    assert other.state[weight]["exp_avg"].tolist() == optimizer.state[weight]["exp_avg"].tolist()


@pytest.mark.parametrize("dtype", ["float16", "float64", "complex64", "int8", "uint8", "bool"])
def test_dtypes_and_shapes(tmp_path, dtype):
    for shape in ((), (0,), (2, 3)):
        kind = getattr(minigrad, dtype)
        t = minigrad.ones(*shape, dtype=kind) if shape else minigrad.tensor(1).to(kind)
        again = through([t], tmp_path)[0]
        assert again.dtype is t.dtype and again.shape == t.shape and again.tolist() == t.tolist()


def test_structures(tmp_path):
    x = minigrad.tensor([1.0], requires_grad=True)
    given = {"a": (1, [2.5, None], "text"), 3: {"b": True}, "x": x, "again": x, "dtype": minigrad.float64}
    made = through(given, tmp_path)
    assert (
        made["a"] == (1, [2.5, None], "text") and made[3] == {"b": True} and made["dtype"] is minigrad.float64
    )
    assert made["x"] is made["again"] and made["x"].requires_grad and made["x"].is_leaf
    numbers = through([math.inf, -math.inf, math.nan, 0.1], tmp_path)
    assert numbers[:2] == [math.inf, -math.inf] and math.isnan(numbers[2]) and numbers[3] == 0.1
    parameter = through(minigrad.nn.Parameter(minigrad.ones(2), requires_grad=False), tmp_path)
    assert isinstance(parameter, minigrad.nn.Parameter) and not parameter.requires_grad
    view = through((minigrad.arange(6).reshape(2, 3) * 1.0).T, tmp_path)
    assert view.tolist() == [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]


def test_open_files():
    memory = io.BytesIO()
    minigrad.save({"a": minigrad.ones(2)}, memory)
    memory.seek(0)
    assert minigrad.load(memory)["a"].tolist() == [1.0, 1.0]


def test_nothing_is_executed(tmp_path):
    with pytest.raises(TypeError, match="an object of type Linear cannot be saved; save a state_dict"):
        minigrad.save(type("Linear", (), {})(), tmp_path / "a.pt")
    (tmp_path / "pickle.pt").write_bytes(pickle.dumps({"a": 1}))
    with zipfile.ZipFile(tmp_path / "zip.pt", "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps({"a": 1}))
    for name in ("pickle.pt", "zip.pt"):
        with pytest.raises(ValueError, match="no file that minigrad's save wrote"):
            minigrad.load(tmp_path / name)


def damaged(written: bytes, chance: random.Random) -> bytes:
    """A file with a damage: bytes that are gone, changed or more, another structure, another header."""
    how = chance.choice(["cut", "bytes", "more", "structure", "header", "compressed"])
    if how == "cut":
        return written[: chance.randrange(len(written))]
    if how == "bytes":
        changed = bytearray(written)
        for _ in range(chance.randint(1, 4)):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
        return bytes(changed)
    if how == "more":
        return written + written[: chance.randrange(len(written))]
    memory = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(written)) as old, zipfile.ZipFile(memory, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if how == "structure" and name == "structure.json":
                text, at = content.decode(), chance.randrange(len(content))
                piece = chance.choice(
                    ["", "null", "-1", "9999", '{"dict": 3}', "[" * 5000, "1e999", '"x"', "{}"]
                )
                content = (text[:at] + piece + text[at + chance.randrange(6) :]).encode()
            if how == "header" and name.endswith(".npy"):
                content = content.replace(
                    b"(2, 3)", chance.choice([b"(9, 9)", b"(-2,3)", b"(2e9,)", b"(2, 3 "])
                )
                content = content.replace(b"<f4", chance.choice([b"|O8", b"<f8", b"<x4", b"<f4"]))
            kind = zipfile.ZIP_DEFLATED if how == "compressed" else zipfile.ZIP_STORED
            new.writestr(name, content, kind)
    return memory.getvalue()


def test_a_damaged_file_is_refused():
    given = {
        "a": minigrad.ones(2, 3),
        "b": [1.5, ("x", minigrad.float64)],
        "c": minigrad.nn.Parameter(minigrad.ones(3)),
    }
    memory, refused = io.BytesIO(), 0
    minigrad.save(given, memory)
    for seed in range(examples(3000)):
        try:
            minigrad.load(io.BytesIO(damaged(memory.getvalue(), random.Random(seed))))
        except ValueError as error:
            refused += str(error).startswith("load: this is no file that minigrad's save wrote")
            assert type(error) is ValueError
    assert refused > examples(3000) / 2


def test_a_large_number_in_a_header_takes_no_memory():
    memory, array = io.BytesIO(), io.BytesIO()
    np.save(array, np.zeros(3, np.float32))
    with zipfile.ZipFile(memory, "w") as archive:
        archive.writestr("structure.json", '{"tensor": 0, "requires_grad": false}')
        archive.writestr("0.npy", array.getvalue().replace(b"(3,), }" + b" " * 11, b"(300000000000,), }"))
    with pytest.raises(ValueError, match="damaged"):
        minigrad.load(memory)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        minigrad.load(tmp_path / "nothing.pt")
