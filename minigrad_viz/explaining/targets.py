"""Losses that were given a wrong target: its dtype, a class that does not exist, its shape."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable
from typing import Any

from ..numbers import number
from ..trace.events import Forward
from ..trace.explained import Explanation
from ..trace.graph import CAUSE
from .case import Said, Values
from .edits import Constructor, Shape
from .failed_call import WHOLE, FailedCall, Fix, Layer, Operand, call_rule, numbers

BINARY = ("binary_cross_entropy", "binary_cross_entropy_with_logits", "BCELoss", "BCEWithLogitsLoss")


class Loss:
    """A loss that failed: its function or class, the predictions and the target."""

    def __init__(self, failed: FailedCall, function: str) -> None:
        self.failed, self.function = failed, function
        self.input, self.target = failed.operands[:2]

    @property
    def classes(self) -> int:
        """How many classes the predictions have."""
        return self.input.shape[1 if len(self.input.shape) > 1 else 0]

    def explain(self, why: str, *fixes: Fix | str | None, **values: Any) -> Explanation:
        """The explanation of an error in the loss."""
        told: Values = {"input": self.input, "target": self.target, "function": self.function}
        return self.failed.explain(why, *fixes, **told, **values)

    def reshape(self, operand: Operand, method: str) -> Fix | None:
        """What to do: `method` behind the predictions or the target; None for none."""
        return self.failed.put(operand, "{}" + method) if method else None

    def created(self, change: Callable[[Constructor], Said | None]) -> Fix | None:
        """What to do: a change of the call that created the loss, where it is a module."""
        call = self.failed.module
        return None if call is None else Layer(self.failed, call, self.input).build(change)


Told = Callable[[Loss, re.Match[str]], Explanation | None]


def of_loss(explain: Told) -> Callable[[FailedCall, re.Match[str]], Explanation | None]:
    """A rule for a loss both of whose tensors are known."""

    def careful(failed: FailedCall, match: re.Match[str]) -> Explanation | None:
        function = failed.function if failed.module is None else failed.module.event.kind
        is_loss = function.lower().endswith("loss") or "cross_entropy" in function
        known = len(failed.operands) >= 2 and failed.operands[0].shape
        return explain(Loss(failed, function), match) if is_loss and known else None

    return careful


# ── classes ─────────────────────────────────────────────────────────────────────────────────────────────────


def index_dtype(loss: Loss, match: re.Match[str]) -> Explanation | None:
    """The indices of classes are no whole numbers."""
    target = loss.target
    if not target.dtype.startswith(("float", "bfloat")):
        return None
    column = len(target.shape) == 2 and target.shape[1] == 1
    fix = loss.reshape(target, ".long().squeeze(1)" if column else ".long()")
    marks = loss.failed.mark_dtypes(target)
    return loss.explain("target_dtype_why", fix, "target_dtype_fix", marks=marks)


def no_such_class(loss: Loss, match: re.Match[str]) -> Explanation | None:
    """A class that the predictions do not have."""
    wrong, count, target = int(match["wrong"]), loss.classes, loss.target
    if target.range is None:
        return None
    low, high = target.range
    marks = loss.failed.mark(target, "mark_class", wrong=wrong)
    marks += loss.failed.mark_size(loss.input, min(1, len(loss.input.shape) - 1), CAUSE)
    fixes: list[Fix | None] = []
    if low >= 1 and high == count:
        fixes.append(loss.failed.put(target, "{} - 1", "target_from_one_fix"))
    if wrong == low == -1:  # as labels of padding usually are
        plain = loss.failed.module is None
        fixes.append(loss.failed.option("ignore_index", -1, "target_ignore_fix") if plain else None)
        fixes.append(loss.created(lambda made: made.with_option("ignore_index", -1)))
    fixes.append(more_classes(loss, count, int(high) + 1) if wrong > 0 else None)
    values: Values = {"wrong": wrong, "count": count, "last": count - 1, "marks": marks}
    return loss.explain("target_class_why", *fixes, "target_class_fix", **values)


def more_classes(loss: Loss, count: int, new: int) -> Fix | None:
    """What to do: create the layer whose `count` outputs are the predictions with `new` ones."""
    index = loss.failed.case.scene.index
    born = index.births.get(loss.input.id)
    call = index.module_calls.at(index.times[id(born)]) if isinstance(born, Forward) else None
    layer = None if call is None else Layer(loss.failed, call, loss.input)
    fits = layer is not None and len(layer.sizes) == 2 and layer.sizes[1] == count
    fix = layer.resized(layer.sizes, 1, new) if layer is not None and fits else None
    return fix and Fix(loss.failed.words("or_class_fix", fix=fix.text, last=count - 1), fix.cause)


def one_for_each(loss: Loss, match: re.Match[str]) -> Explanation | None:
    """The target has more than one number for each row."""
    rows, shape = loss.input.shape[0], loss.target.shape
    if len(shape) < 2:
        return None
    method = ".reshape(-1)" if math.prod(shape) == rows else ""
    method = ".argmax(dim=1)" if shape == loss.input.shape else method
    fix = loss.reshape(loss.target, ".squeeze(1)" if shape == (rows, 1) else method)
    marks = loss.failed.mark_shapes(loss.target)
    return loss.explain("target_rows_why", fix, "target_rows_fix", marks=marks, rows=rows)


def batches(loss: Loss, match: re.Match[str]) -> Explanation | None:
    """Predictions and targets are not equally many."""
    m, n, shape = int(match["m"]), int(match["n"]), loss.input.shape
    fix = None
    if math.prod(loss.target.shape) == m:
        fix = loss.reshape(loss.target, ".reshape(-1)")
    elif len(shape) == 3 and math.prod(shape[:2]) == n:
        fix = loss.reshape(loss.input, ".flatten(0, 1)")
    marks = loss.failed.mark_size(loss.input, 0) + loss.failed.mark_size(loss.target, 0)
    return loss.explain("target_batch_why", fix, "target_batch_fix", marks=marks, m=m, n=n)


def classes_last(loss: Loss, match: re.Match[str]) -> Explanation | None:
    """The classes do not stand in dimension 1."""
    shape, wanted = loss.input.shape, loss.target.shape
    if wanted != numbers(match["got"]):
        return None
    method = ".transpose(1, 2)" if len(shape) == 3 else ".movedim(-1, 1)"
    method = method if shape[:-1] == wanted else ""
    ones = [i for i, size in enumerate(shape) if size == 1]
    if len(shape) == 3 and len(ones) == 1 and len(wanted) == 1 and ones[0] < 2:
        method = f".squeeze({ones[0]})"
    marks = loss.failed.mark_shapes(loss.input, loss.target)
    fixes = (loss.reshape(loss.input, method), "target_last_fix")
    return loss.explain("target_last_why", *fixes, marks=marks, classes=loss.classes)


def probabilities(loss: Loss, match: re.Match[str]) -> Explanation | None:
    """A target of one number for each class is no floating point tensor."""
    if loss.target.shape != loss.input.shape:
        return None
    return needs_float(loss, "target_one_hot_why")


def needs_float(loss: Loss, why: str) -> Explanation:
    """The explanation for a target that must be converted to floating point."""
    fixes = (loss.reshape(loss.target, ".float()"), "target_float_fix")
    return loss.explain(why, *fixes, marks=loss.failed.mark_dtypes(loss.target))


def swapped(loss: Loss, match: re.Match[str]) -> Explanation | None:
    """The target stands first."""
    if not loss.input.dtype.startswith(WHOLE) or not loss.target.dtype.startswith("float"):
        return None
    marks = loss.failed.mark_dtypes(loss.input) + loss.failed.mark_dtypes(loss.target, kind=CAUSE)
    fixes = (loss.failed.exchange(loss.input, loss.target), "target_first_fix")
    return loss.explain("target_first_why", *fixes, marks=marks)


# ── one number for each prediction ──────────────────────────────────────────────────────────────────────────


def same_shape(loss: Loss, match: re.Match[str]) -> Explanation | None:
    """Predictions and targets differ in shape."""
    if loss.input.shape == loss.target.shape:
        return None
    marks = loss.failed.mark_shapes(loss.input, kind=CAUSE) + loss.failed.mark_shapes(loss.target)
    fixes = (loss.reshape(loss.target, reshaping(loss.target.shape, loss.input.shape)), "target_same_fix")
    return loss.explain("target_same_why", *fixes, marks=marks)


def reshaping(shape: Shape, wanted: Shape) -> str:
    """The method that gives a shape the form of another one; "" if it has not as many elements."""
    if math.prod(shape) != math.prod(wanted):
        return ""
    if wanted == (*shape, 1):
        return f".unsqueeze({len(shape)})"
    if shape == (*wanted, 1):
        return f".squeeze({len(wanted)})"
    return ".T" if len(shape) == 2 and shape[::-1] == wanted else f".reshape{wanted}"


def float_target(loss: Loss, match: re.Match[str]) -> Explanation | None:
    """The target of a loss between floating point tensors holds whole numbers."""
    if loss.target.dtype.startswith("float") or loss.function not in (*BINARY, "mse_loss"):
        return None
    return needs_float(loss, "target_float_why")


def no_probabilities(loss: Loss, match: re.Match[str]) -> Explanation | None:
    """The predictions do not lie between 0 and 1."""
    if loss.input.range is None:
        return None
    low, high = map(number, loss.input.range)
    made, node = None, loss.failed.node
    if loss.function == "BCELoss":
        made = loss.created(lambda made: made.renamed("BCEWithLogitsLoss"))
    elif isinstance(node, ast.Call) and loss.function == "binary_cross_entropy":
        made = loss.failed.rewrite({node.func: f"{ast.unparse(node.func)}_with_logits"})
    marks = loss.failed.mark(loss.input, "mark_range", low=low, high=high)
    return loss.explain("target_logits_why", made, "target_logits_fix", marks=marks, low=low, high=high)


RULES = [call_rule(key, of_loss(explain), pattern) for key, explain, pattern in (
    ("target_dtype", index_dtype, "expected target dtype to be|expected scalar type Long but found"),
    ("target_class", no_such_class, r"Target (?P<wrong>-?\d+) is out of bounds"),
    ("target_shape", one_for_each, "multi-target not supported"),
    ("target_shape", batches,
     r"Expected input batch_size \((?P<m>\d+)\) to match target batch_size \((?P<n>\d+)\)"),
    ("target_shape", classes_last, r"Expected target size \[[\d, ]*\], got \[(?P<got>[\d, ]*)\]"),
    ("target_dtype", probabilities, "Expected floating point type for target with class probabilities"),
    ("target_first", swapped, r"log_softmax\w*\" not implemented for '(?:Long|Int|Byte|Short|Char|Bool)'"),
    ("target_shape", same_shape, r"Target size \(|Using a target size \(|The size of tensor a \("),
    ("target_dtype", float_target, "can't be cast to the desired output type|Found dtype Long but expected"),
    ("no_probabilities", no_probabilities, "all elements of input should be between 0 and 1"),
)]  # fmt: skip
