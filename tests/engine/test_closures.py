"""The closures of plain elementwise ops do what the general path does: same bits, nodes, saved values.

`core.elementwise` has the closures of calls and `core.apply` those of backward passes;
`core.call.compute` and `core.apply` are the general path, which all other ops take.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.core import F, apply, elementwise
from minigrad.core import apply as node_class
from minigrad.core.call import compute
from minigrad.core.op import Op
from minigrad.core.tensor_state import TensorBase

FOUND = {id(entry.op): entry.op for entry in vars(F).values() if hasattr(entry, "op")}
FAST = sorted((op for op in FOUND.values() if op.is_plain_elementwise), key=lambda op: op.name)
GENERAL = vars(apply)["apply"]
SHAPES = {"scalar": (), "vector": (3,), "matrix": (2, 3)}
DTYPES = (mg.float32, mg.float64)
KINDS = ("leaf", "constant", "written", "data_written", "view", "stale_view", "result", "no_dimensions")
WHOLE = {"decimals": 1, "n": 1}  # parameters that take integers


def made(kind: str, shape: tuple[int, ...], dtype: Any, low: float) -> mg.Tensor:
    """An operand with elements between `low` and `low` + 0.5."""
    count = int(np.prod(shape)) or 1
    data = mg.tensor(np.linspace(low, low + 0.5, count).reshape(shape).astype(dtype.numpy))
    if kind == "constant":
        return data
    leaf = data.clone().requires_grad_()
    if kind == "written":
        with mg.no_grad():
            leaf -= 0.125
    elif kind == "data_written":
        leaf.data -= 0.125
    elif kind == "view":
        return leaf.view(shape)
    elif kind == "stale_view":
        base = leaf * 1.0
        view = base.view(shape)
        base += 0.25
        return view
    elif kind == "result":
        return leaf * 1.0
    elif kind == "no_dimensions":
        return leaf.sum()
    return leaf


def operands(op: Op, kinds: tuple[str, str], shapes: tuple[Any, Any], dtype: Any) -> list[Any]:
    """Arguments for an op; a second operand that can only be a number is one."""
    first = made(kinds[0], shapes[0], dtype, 1.25 if op.name == "acosh" else 0.25)
    if len(op.params) == 1:
        return [first]
    if len(op.inputs) == 1:
        return [first, WHOLE.get(op.params[1], 0.75)]
    return [first, 0.75 if kinds[1] == "number" else made(kinds[1], shapes[1], dtype, 0.5)]


def closure_of(op: Op) -> Any:
    return elementwise.unary(op) if len(op.params) == 1 else elementwise.binary(op)


def bits(x: Any) -> Any:
    """A value so that equal ones are equal to the bit."""
    data = getattr(x, "_data", x)
    if isinstance(data, np.ndarray | np.generic):
        return str(data.dtype), data.shape, data.tobytes()
    return data


def described(result: mg.Tensor) -> dict[str, Any]:
    """All properties of a result and its node."""
    node: Any = result._fn
    found: dict[str, Any] = {"result": bits(result), "version": result._version, "class": type(result)}
    if node is not None:
        found |= {
            "node": type(node),
            "edges": [(type(n), nr) for n, nr in node.next_functions],
            "saved": {name: bits(getattr(node, "_raw_" + name)) for name in node.op.names},
            "constants": [n for n in node.op.names if isinstance(getattr(node, "_raw_" + n), TensorBase)],
            "check": node._check,
            "cast": node._cast,
            "extra": node._extra,
        }
    return found


def outcome(call: Any, *args: Any) -> Any:
    """What a call gives, or the class and text of its error."""
    try:
        return call(*args)
    except Exception as error:
        return type(error), str(error)


def check(op: Op, args: list[Any]) -> None:
    """Hold the closure of a call, then that of the backward pass, against the general path."""
    with np.errstate(all="ignore"):
        fast, general = outcome(closure_of(op), *args), outcome(compute, op, list(args))
    if isinstance(general, tuple):
        assert fast == general
        return
    assert described(fast) == described(general)
    node: Any = fast._fn
    if node is None:
        return
    g = np.linspace(0.5, 1.5, fast._data.size, dtype=fast._data.dtype).reshape(fast._data.shape)[()]
    for keep in (True, False):
        with np.errstate(all="ignore"):
            sent = outcome(node_class.apply_of(op), fast._fn, g, keep)
            expected = outcome(GENERAL, general._fn, g, keep)
        assert list(map(bits, sent)) == list(map(bits, expected))
        assert (fast._fn._check, general._fn._check).count(apply.RELEASED) in (0, 2)


@pytest.mark.quick(60)
@pytest.mark.parametrize("op", FAST, ids=lambda op: op.name)
@pytest.mark.parametrize("kind", KINDS)
def test_the_first_operand(op, kind):
    for shape in SHAPES.values():
        for dtype in DTYPES:
            check(op, operands(op, (kind, "leaf"), (shape, shape), dtype))


@pytest.mark.quick(40)
@pytest.mark.parametrize("op", [op for op in FAST if len(op.inputs) == 2], ids=lambda op: op.name)
@pytest.mark.parametrize("kind", [*KINDS, "number"])
def test_the_second_operand(op, kind):
    for shapes in (((), ()), ((3,), (3,)), ((2, 3), (3,)), ((3,), (2, 1)), ((), (3,)), ((2,), (3,))):
        for first in ("leaf", "constant"):
            for dtype in DTYPES:
                check(op, operands(op, (first, kind), shapes, dtype))


@pytest.mark.parametrize("op", FAST, ids=lambda op: op.name)
def test_without_a_graph(op):
    for shape in SHAPES.values():
        check(op, operands(op, ("constant", "constant"), (shape, shape), mg.float32))
        with mg.no_grad():
            check(op, operands(op, ("leaf", "leaf"), (shape, shape), mg.float32))


def test_mixed_dtypes():
    for op in FAST:
        if len(op.inputs) == 2:
            for dtypes in ((mg.float32, mg.float64), (mg.float64, mg.float32)):
                check(op, [made("leaf", (2,), d, 0.5) for d in dtypes])


def test_there_are_closures_of_both_kinds():
    assert len(FAST) >= 65
    own = [node_class.apply_of(op) for op in FAST]
    assert sum(function is not GENERAL for function in own) >= 30
    assert {function.__name__ for function in own} == {
        *("apply", "apply_single", "apply_linear", "apply_product"),
    }
