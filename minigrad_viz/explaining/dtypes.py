"""Tensors of the wrong dtype: whole numbers where fractions are needed, two dtypes in one product, indices
that are no whole numbers."""

from __future__ import annotations

import itertools
import re

from ..trace.explained import Explanation
from .at_call import of_a_call
from .case import Case, ErrorRule, rule
from .edits import said, with_method
from .layers import layer_of
from .operation import (
    Operand,
    dtype_mark,
    failed_layer,
    failing,
    function_of,
    named,
    operands_of,
)
from .rewrite import out_of_place

WHOLE = ("int", "uint", "bool")
FLOATING = ("float", "bfloat")
SHORT = {"long": "int64", "int": "int32", "float": "float32", "double": "float64", "half": "float16"}


def mismatch(case: Case, match: re.Match[str]) -> Explanation | None:
    """Two dtypes in one operation that takes only one."""
    if failed_layer(case) is not None:
        return in_layer(case, match)
    given = [each for each in operands_of(case) if each.dtype.startswith((*WHOLE, *FLOATING))]
    pairs = [(a, b) for a, b in itertools.pairwise(given) if a.dtype != b.dtype]
    if not pairs:
        return None
    a, b = pairs[0]
    values = {"a": named(case, a), "b": named(case, b), "left": a.dtype, "right": b.dtype}
    why = case.words("dtype_pair_why", call=failing(case), **values)
    marks = dtype_mark(case, a.state) + dtype_mark(case, b.state)
    one, other = (a, b) if needs_change(a, b) else (b, a)
    code = with_method(case, one.tree, conversion(other.dtype))
    return case.explain("dtype_mismatch", why, said(case, code, "dtype_pair_fix"), marks)


def needs_change(a: Operand, b: Operand) -> bool:
    """Whether the first of two operands is the one to be converted: whole numbers, else the one that does
    not require gradients, else the one of double precision."""
    return rank(a) > rank(b)


def rank(one: Operand) -> tuple[bool, bool, bool]:
    """How much an operand is the one to be converted."""
    return one.dtype.startswith(WHOLE), not one.state.requires_grad, one.dtype == "float64"


def conversion(dtype: str) -> str:
    """The method that converts to a dtype."""
    return {"float32": ".float()", "float64": ".double()", "int64": ".long()"}.get(
        dtype, f".to(torch.{dtype})"
    )


def in_layer(case: Case, match: re.Match[str]) -> Explanation | None:
    """The input of a layer has not the dtype of its parameters."""
    layer, own = layer_of(case), dtype_of(match.groupdict().get("own"))
    if layer is None or layer.input.value is None or own is None or layer.input.value.dtype == own:
        return None
    why = case.words("dtype_layer_why", dtype=layer.input.value.dtype, own=own, **layer.values(case))
    code = None if layer.written is None else with_method(case, layer.written.tree, conversion(own))
    marks = dtype_mark(case, layer.input)
    return case.explain("dtype_mismatch", why, said(case, code, "dtype_layer_fix"), marks)


def dtype_of(text: str | None) -> str | None:
    """The dtype that an error calls by its name in C++: `Long`, `long int`, `Float`."""
    return None if not text else SHORT.get(text.split()[0].lower())


def whole_numbers(case: Case, match: re.Match[str]) -> Explanation | None:
    """Whole numbers were given to an operation that computes fractions."""
    mine = [each for each in operands_of(case) if each.dtype.startswith(WHOLE)]
    function = function_of(case)
    if not mine or not function or (failed_layer(case) is not None and len(mine) != 1):
        return None
    one = mine[0]
    values = {"name": named(case, one), "dtype": one.dtype, "function": function}
    why = case.words("dtype_whole_why", call=failing(case), **values)
    code = with_method(case, one.tree, ".float()")
    return case.explain(
        "integer_input", why, said(case, code, "dtype_whole_fix"), dtype_mark(case, one.state)
    )


def result_type(case: Case, match: re.Match[str]) -> Explanation | None:
    """The result of an operation in place has fractions, and the tensor takes only whole numbers."""
    given = operands_of(case)
    if not given or not given[0].dtype.startswith(WHOLE) or failed_layer(case) is not None:
        return None
    values = {"name": named(case, given[0]), "dtype": given[0].dtype}
    why = case.words("dtype_in_place_why", call=failing(case), **values)
    code = out_of_place(case, case.span)
    marks = dtype_mark(case, given[0].state)
    return case.explain("integer_input", why, said(case, code, "dtype_in_place_fix"), marks)


def index_dtype(case: Case, match: re.Match[str]) -> Explanation | None:
    """Indices are no whole numbers."""
    given = operands_of(case)
    mine = [each for each in given[-1:] if each.dtype.startswith(FLOATING)]
    mine += [each for each in given[1:] if each.dtype.startswith(FLOATING)]
    if not mine:
        return None
    one = mine[0]
    why = case.words("dtype_index_why", call=failing(case), name=named(case, one), dtype=one.dtype)
    code = with_method(case, one.tree, ".long()")
    marks = dtype_mark(case, one.state)
    return case.explain("index_dtype", why, said(case, code, "dtype_index_fix"), marks)


KIND = "(?:Long|Int|Short|Byte|Char|Bool)"
OWN = (
    r"mat1 and mat2 must have the same dtype, but got \w+ and (?P<own>\w+)",
    r"expected m1 and m2 to have the same dtype, but got: [\w ]+ != (?P<own>[\w ]+)",
    r"expected (?:both vectors to have same dtype|scalar type).*found (?P<own>\w+)",
    r"Expected input and other to have the same dtype, but got .*dtype (?P<own>\w+)",
    "input and other dtypes must match",
    r"Input type \([\w .]+\) and (?:bias|weight) type \((?P<own>[\w .]+)\) should be the same",
)
FRACTIONS = (
    r"Input dtype must be either a floating point or complex dtype\. Got: " + KIND,
    "std and var only support floating point|std and var: ?only support",
    f"not implemented for '{KIND}'",
    "Expected a floating point or complex tensor as input",
)
INDICES = (
    "tensors used as indices must be long",
    "for argument #1 'indices' to have one of the following scalar types",
    "one_hot is only applicable to index tensor",
    r"Expected dtype int\w+(?:/int\w+)? for index|expected index to be|Index tensor is expected to be",
)

RULES: dict[str, ErrorRule] = {
    pattern: rule(pattern, of_a_call(explain))
    for pattern, explain in {
        **dict.fromkeys(OWN, mismatch),
        **dict.fromkeys(FRACTIONS, whole_numbers),
        "can't be cast to the desired output type": result_type,
        **dict.fromkeys(INDICES, index_dtype),
    }.items()
}
