"""Losses that were given a wrong target: its dtype, a class that does not exist, its shape."""

from __future__ import annotations

import ast
import math
import re
from typing import NamedTuple

from ..numbers import number
from ..trace.events import Forward
from ..trace.explained import Explanation
from ..trace.graph import CAUSE
from .at_call import of_a_call
from .case import Case, ErrorRule, rule
from .edits import (
    Constructor,
    constructor,
    exchanged,
    failing_node,
    rewritten,
    said,
    with_method,
    with_operand,
    with_option,
)
from .operation import (
    Operand,
    Shape,
    dtype_mark,
    failed_layer,
    failing,
    function_of,
    named,
    numbers,
    operands_of,
    shape_mark,
    size_mark,
    sized,
)
from .subject import called

BINARY = ("binary_cross_entropy", "binary_cross_entropy_with_logits", "BCELoss", "BCEWithLogitsLoss")


class Loss(NamedTuple):
    """A loss that failed: its function or class, the predictions and the target."""

    function: str
    input: Operand
    target: Operand

    @property
    def classes(self) -> int:
        """How many classes the predictions have."""
        return self.input.shape[1 if len(self.input.shape) > 1 else 0]

    def values(self, case: Case) -> dict[str, object]:
        """What sentences about the loss tell."""
        given = {"input": named(case, self.input), "target": named(case, self.target)}
        shapes = {"left": sized(case, self.input.shape), "right": sized(case, self.target.shape)}
        return {"call": failing(case), "function": self.function, **given, **shapes}


def loss_of(case: Case) -> Loss | None:
    """The loss that failed, if both of its tensors are known."""
    call, given = failed_layer(case), operands_of(case)
    function = function_of(case) if call is None else call.event.kind
    is_loss = function.lower().endswith("loss") or "cross_entropy" in function
    return Loss(function, given[0], given[1]) if is_loss and len(given) >= 2 and given[0].shape else None


def criterion(case: Case, loss: Loss) -> Constructor | None:
    """The call that created the loss, where it is a module."""
    call = failed_layer(case)
    return None if call is None else constructor(case, call.event.kind, call.event.path, ())


# ── classes ─────────────────────────────────────────────────────────────────────────────────────────────────


def index_dtype(case: Case, match: re.Match[str]) -> Explanation | None:
    """The indices of classes are no whole numbers."""
    loss = loss_of(case)
    if loss is None or not loss.target.dtype.startswith(("float", "bfloat")):
        return None
    why = case.words("target_dtype_why", dtype=loss.target.dtype, **loss.values(case))
    column = len(loss.target.shape) == 2 and loss.target.shape[1] == 1
    code = with_method(case, loss.target.tree, ".long().squeeze(1)" if column else ".long()")
    marks = dtype_mark(case, loss.target.state)
    return case.explain("target_dtype", why, said(case, code, "target_dtype_fix"), marks)


def out_of_bounds(case: Case, match: re.Match[str]) -> Explanation | None:
    """A class that the predictions do not have."""
    loss, wrong = loss_of(case), int(match["wrong"])
    value = None if loss is None else loss.target.state.value
    if loss is None or value is None or value.low is None or value.high is None:
        return None
    count = loss.classes
    why = case.words("target_class_why", wrong=wrong, count=count, last=count - 1, **loss.values(case))
    marks = case.card(loss.target.id, label=case.words("mark_class", wrong=wrong))
    marks += size_mark(case, loss.input.id, min(1, len(loss.input.shape) - 1), count, CAUSE)
    if value.low >= 1 and value.high == count:
        code = with_operand(case, loss.target.tree, f"{called(loss.target.text)} - 1")
        if code is not None:
            return case.explain("target_class", why, case.words("target_from_one_fix", code=code), marks)
    made = criterion(case, loss)
    if wrong == -1 and value.low == -1:  # as labels of padding usually are
        fix = None if made is None else made.with_option("ignore_index", -1)
        code = with_option(case, "ignore_index", "-1") if failed_layer(case) is None else None
        if code is not None:
            fix = case.words("target_ignore_fix", code=code)
        if fix is not None:
            return case.explain("target_class", why, fix, marks, made.span if made else None)
    layer = made_by_layer(case, loss, count) if wrong > 0 else None
    fix = None if layer is None else layer.changed(1, int(value.high) + 1)
    if layer is not None and fix is not None:
        return case.explain("target_class", why, fix, marks, layer.span)
    return case.explain("target_class", why, case.words("target_class_fix", last=count - 1), marks)


def made_by_layer(case: Case, loss: Loss, count: int) -> Constructor | None:
    """The call that created the layer whose `count` outputs are the predictions."""
    born = case.scene.index.births.get(loss.input.id)
    if not isinstance(born, Forward):
        return None
    call = case.scene.index.module_calls.at(case.scene.index.times[id(born)])
    sizes = () if call is None else numbers(call.event.about)
    fits = len(sizes) == 2 and sizes[1] == count
    return constructor(case, call.event.kind, call.event.path, sizes) if call is not None and fits else None


def one_for_each(case: Case, match: re.Match[str]) -> Explanation | None:
    """The target has more than one number for each row."""
    loss = loss_of(case)
    if loss is None or len(loss.target.shape) < 2:
        return None
    rows, shape = loss.input.shape[0], loss.target.shape
    why = case.words("target_rows_why", rows=rows, **loss.values(case))
    method = ""
    if shape == (rows, 1):
        method = ".squeeze(1)"
    elif shape == loss.input.shape:
        method = ".argmax(dim=1)"
    elif math.prod(shape) == rows:
        method = ".reshape(-1)"
    code = with_method(case, loss.target.tree, method) if method else None
    marks = shape_mark(case, loss.target.state)
    return case.explain("target_shape", why, said(case, code, "target_rows_fix"), marks)


def batches(case: Case, match: re.Match[str]) -> Explanation | None:
    """Predictions and targets are not equally many."""
    loss = loss_of(case)
    if loss is None:
        return None
    m, n = int(match["m"]), int(match["n"])
    why = case.words("target_batch_why", m=m, n=n, **loss.values(case))
    marks = size_mark(case, loss.input.id, 0, m) + size_mark(case, loss.target.id, 0, n)
    code = None
    if math.prod(loss.target.shape) == m:
        code = with_method(case, loss.target.tree, ".reshape(-1)")
    elif len(loss.input.shape) == 3 and math.prod(loss.input.shape[:2]) == n:
        code = with_method(case, loss.input.tree, ".flatten(0, 1)")
    return case.explain("target_shape", why, said(case, code, "target_batch_fix"), marks)


def classes_last(case: Case, match: re.Match[str]) -> Explanation | None:
    """The classes do not stand in dimension 1."""
    loss = loss_of(case)
    if loss is None or loss.target.shape != numbers(match["got"]):
        return None
    why = case.words("target_last_why", classes=loss.classes, **loss.values(case))
    marks = shape_mark(case, loss.input.state) + shape_mark(case, loss.target.state)
    fits = loss.input.shape[:-1] == loss.target.shape
    method = ".transpose(1, 2)" if len(loss.input.shape) == 3 else ".movedim(-1, 1)"
    code = with_method(case, loss.input.tree, method) if fits else None
    ones = [i for i, size in enumerate(loss.input.shape) if size == 1]
    if len(loss.input.shape) == 3 and len(ones) == 1 and len(loss.target.shape) == 1 and ones[0] < 2:
        code = with_method(case, loss.input.tree, f".squeeze({ones[0]})")
    return case.explain("target_shape", why, said(case, code, "target_last_fix"), marks)


def probabilities(case: Case, match: re.Match[str]) -> Explanation | None:
    """A target of one number for each class is no floating point tensor."""
    loss = loss_of(case)
    if loss is None or loss.target.shape != loss.input.shape:
        return None
    why = case.words("target_one_hot_why", dtype=loss.target.dtype, **loss.values(case))
    code = with_method(case, loss.target.tree, ".float()")
    marks = dtype_mark(case, loss.target.state)
    return case.explain("target_dtype", why, said(case, code, "target_float_fix"), marks)


def swapped(case: Case, match: re.Match[str]) -> Explanation | None:
    """The target stands first."""
    loss = loss_of(case)
    whole = loss is not None and loss.input.dtype.startswith(("int", "uint", "bool"))
    if loss is None or not whole or not loss.target.dtype.startswith("float"):
        return None
    values = loss.values(case)
    why = case.words("target_first_why", dtype=loss.input.dtype, **values)
    marks = dtype_mark(case, loss.input.state) + dtype_mark(case, loss.target.state, CAUSE)
    code = exchanged(case, loss.input.tree, loss.target.tree)
    return case.explain("target_first", why, said(case, code, "target_first_fix"), marks)


# ── one number for each prediction ──────────────────────────────────────────────────────────────────────────


def same_shape(case: Case, match: re.Match[str]) -> Explanation | None:
    """Predictions and targets differ in shape."""
    loss = loss_of(case)
    if loss is None or loss.input.shape == loss.target.shape:
        return None
    why = case.words("target_same_why", **loss.values(case))
    marks = shape_mark(case, loss.input.state, CAUSE) + shape_mark(case, loss.target.state)
    method = reshaping(loss.target.shape, loss.input.shape)
    code = with_method(case, loss.target.tree, method) if method else None
    return case.explain("target_shape", why, said(case, code, "target_same_fix"), marks)


def reshaping(shape: Shape, wanted: Shape) -> str:
    """The method that gives a shape the form of another one; "" if it has not as many elements."""
    if math.prod(shape) != math.prod(wanted):
        return ""
    if wanted == (*shape, 1):
        return f".unsqueeze({len(shape)})"
    if shape == (*wanted, 1):
        return f".squeeze({len(wanted)})"
    return ".T" if len(shape) == 2 and shape[::-1] == wanted else f".reshape{wanted}"


def float_target(case: Case, match: re.Match[str]) -> Explanation | None:
    """The target of a loss between floating point tensors holds whole numbers."""
    loss = loss_of(case)
    if loss is None or loss.target.dtype.startswith("float") or loss.function not in (*BINARY, "mse_loss"):
        return None
    why = case.words("target_float_why", dtype=loss.target.dtype, **loss.values(case))
    code = with_method(case, loss.target.tree, ".float()")
    marks = dtype_mark(case, loss.target.state)
    return case.explain("target_dtype", why, said(case, code, "target_float_fix"), marks)


def no_probabilities(case: Case, match: re.Match[str]) -> Explanation | None:
    """The predictions do not lie between 0 and 1."""
    loss = loss_of(case)
    value = None if loss is None else loss.input.state.value
    if loss is None or value is None or value.low is None or value.high is None:
        return None
    low, high = number(value.low), number(value.high)
    why = case.words("target_logits_why", low=low, high=high, **loss.values(case))
    label = case.words("mark_range", low=low, high=high)
    marks, made, node = case.card(loss.input.id, label=label), criterion(case, loss), failing_node(case)
    if made is not None and loss.function == "BCELoss":
        fix = made.renamed("BCEWithLogitsLoss") or case.words("target_logits_fix")
        return case.explain("no_probabilities", why, fix, marks, made.span)
    code = None
    if isinstance(node, ast.Call) and loss.function == "binary_cross_entropy":
        code = rewritten(case, node, {node.func: f"{ast.unparse(node.func)}_with_logits"})
    return case.explain("no_probabilities", why, said(case, code, "target_logits_fix"), marks)


RULES: dict[str, ErrorRule] = {
    pattern: rule(pattern, of_a_call(explain))
    for pattern, explain in {
        "expected target dtype to be|expected scalar type Long but found": index_dtype,
        r"Target (?P<wrong>-?\d+) is out of bounds": out_of_bounds,
        "multi-target not supported": one_for_each,
        r"Expected input batch_size \((?P<m>\d+)\) to match target batch_size \((?P<n>\d+)\)": batches,
        r"Expected target size \[[\d, ]*\], got \[(?P<got>[\d, ]*)\]": classes_last,
        "Expected floating point type for target with class probabilities": probabilities,
        r"log_softmax\w*\" not implemented for '(?:Long|Int|Byte|Short|Char|Bool)'": swapped,
        r"Target size \(|Using a target size \(|The size of tensor a \(": same_shape,
        "can't be cast to the desired output type|Found dtype Long but expected": float_target,
        "all elements of input should be between 0 and 1": no_probabilities,
    }.items()
}
