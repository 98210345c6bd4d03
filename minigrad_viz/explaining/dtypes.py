"""Tensors of the wrong dtype: whole numbers where fractions are needed, two dtypes in one product, indices
that are no whole numbers."""

from __future__ import annotations

import itertools

from ..trace.explained import Explanation
from .case import Fix, Values, need, sure
from .failed_call import FailedCall, call_rule
from .operands import FLOATING, WHOLE, Operand

SHORT = {"long": "int64", "int": "int32", "float": "float32", "double": "float64", "half": "float16"}
METHODS = {"float32": ".float()", "float64": ".double()", "int64": ".long()"}


def converted(failed: FailedCall, one: Operand, dtype: str) -> Fix | None:
    """The line that failed, with an operand converted to a dtype."""
    return failed.behind(one, METHODS.get(dtype, f".to(torch.{dtype})"))


@call_rule(
    "dtype_mismatch",
    r"mat1 and mat2 must have the same dtype, but got \w+ and {own}",
    r"expected m1 and m2 to have the same dtype, but got: [\w ]+ != (?P<own>[\w ]+)",
    "expected (?:both vectors to have same dtype|scalar type).*found {own}",
    "Expected input and other to have the same dtype, but got .*dtype {own}",
    "input and other dtypes must match",
    r"Input type \([\w .]+\) and (?:bias|weight) type \((?P<own>[\w .]+)\) should be the same",
)
def mismatch(failed: FailedCall, own: str = "") -> Explanation | None:
    """Two dtypes in one operation that takes only one."""
    if failed.module is not None:
        return in_layer(failed, own)
    given = [each for each in failed.operands if each.dtype.startswith((*WHOLE, *FLOATING))]
    pairs = [(a, b) for a, b in itertools.pairwise(given) if a.dtype != b.dtype]
    need(pairs)
    a, b = pairs[0]
    one, other = (a, b) if needs_change(a) > needs_change(b) else (b, a)
    fixes = (converted(failed, one, other.dtype), "dtype_pair_fix")
    return failed.explain("dtype_pair_why", *fixes, a=a, b=b)


def needs_change(one: Operand) -> tuple[bool, bool, bool]:
    """How much an operand is the one to be converted: whole numbers, else the one that does not require
    gradients, else the one of double precision."""
    return one.whole, not one.asks, one.dtype == "float64"


def in_layer(failed: FailedCall, told: str) -> Explanation | None:
    """The input of a layer has not the dtype of its parameters, which is `told` as C++ has it: `Long`,
    `long int`, `Float`."""
    layer, own = sure(failed.layer), sure(SHORT.get(told.partition(" ")[0].lower()))
    need(layer.input.dtype != own)
    fixes = (converted(failed, layer.input, own), "dtype_layer_fix")
    return failed.explain("dtype_layer_why", *fixes, own=own)


@call_rule(
    "integer_input",
    "floating point or complex dtype. Got:|std and var.*only support|a floating point or complex tensor",
    "not implemented for '(?:Long|Int|Short|Byte|Char|Bool)'",
)
def whole_numbers(failed: FailedCall) -> Explanation | None:
    """Whole numbers were given to an operation that computes fractions."""
    mine = [each for each in failed.operands if each.whole]
    need(mine, failed.function, failed.module is None or len(mine) == 1)
    told: Values = {"name": mine[0], "function": failed.function}
    return failed.explain("dtype_whole_why", failed.behind(mine[0], ".float()"), "dtype_whole_fix", **told)


@call_rule("integer_input", "can't be cast to the desired output type")
def result_type(failed: FailedCall) -> Explanation | None:
    """The result of an operation in place has fractions, and the tensor takes only whole numbers."""
    given = failed.operands[:1]
    need(given and given[0].whole, failed.module is None)
    fixes = (failed.copied("write_fix"), "dtype_in_place_fix")
    return failed.explain("dtype_in_place_why", *fixes, name=given[0])


@call_rule(
    "index_dtype",
    "tensors used as indices must be long|only applicable to index tensor|Expected dtype int.* for index",
    "argument #1 'indices' to have|expected index to be|Index tensor is expected to be",
)
def index_dtype(failed: FailedCall) -> Explanation | None:
    """Indices are no whole numbers."""
    given = failed.operands
    mine = [each for each in (*given[-1:], *given[1:]) if each.dtype.startswith(FLOATING)]
    need(mine)
    fixes = (failed.behind(mine[0], ".long()"), "dtype_index_fix")
    return failed.explain("dtype_index_why", *fixes, name=mine[0])
