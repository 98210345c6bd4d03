"""Losses that were given a wrong target: its dtype, a class that does not exist, its shape."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import Any

from ..numbers import number
from ..trace.events import Forward
from ..trace.explained import Explanation
from ..trace.graph import CAUSE
from .case import Fix, Values, need, sure
from .edits import Constructor, Shape
from .failed_call import FailedCall, call_rule
from .operands import FLOATING, Layer
from .syntax import assigned_above, last_name

BINARY = ("binary_cross_entropy", "binary_cross_entropy_with_logits", "BCELoss", "BCEWithLogitsLoss")


class Loss:
    """A loss that failed: its function or class, the predictions and the target."""

    def __init__(self, failed: FailedCall) -> None:
        self.failed = failed
        self.function = failed.function if failed.module is None else failed.module.event.kind
        need(self.function.lower().endswith("loss") or "cross_entropy" in self.function)
        need(len(failed.operands) > 1 and failed.operands[0].shape)
        self.input, self.target = failed.operands[:2]

    @property
    def classes(self) -> int:
        """How many classes the predictions have."""
        return self.input.shape[1 if len(self.input.shape) > 1 else 0]

    def explain(self, why: str, *fixes: Fix | str | None, **values: Any) -> Explanation:
        """The explanation of an error in the loss."""
        told: Values = {"input": self.input, "target": self.target, "function": self.function, **values}
        return self.failed.explain(why, *fixes, **told)

    def about_target(self, why: str, method: str, fix: str = "convert_fix") -> Explanation:
        """The explanation for the dtype of the target, or its shape; `method` behind it is what to do."""
        fixes, told = (
            (self.failed.behind(self.target, method), fix),
            {"name": self.target.name, "method": method},
        )
        return self.explain(why, *fixes, rows=self.input.shape[0], **told)

    def created(self, change: Callable[[Constructor], Fix | None]) -> Fix | None:
        """What to do: a change of the call that created the loss, where it is a module."""
        call = self.failed.module
        return None if call is None else Layer(self.failed.case, call, self.input).build(change)


# ── classes ─────────────────────────────────────────────────────────────────────────────────────────────────


@call_rule("target_dtype", "expected target dtype to be|expected scalar type Long but found")
def index_dtype(failed: FailedCall) -> Explanation | None:
    """The indices of classes are no whole numbers."""
    loss = Loss(failed)
    shape = loss.target.shape
    need(loss.target.dtype.startswith(FLOATING))
    method = ".long().squeeze(1)" if len(shape) == 2 and shape[1] == 1 else ".long()"
    return loss.about_target("target_dtype_why", method)


@call_rule("target_class", "Target {wrong} is out of bounds")
def no_such_class(failed: FailedCall, wrong: int) -> Explanation | None:
    """A class that the predictions do not have."""
    loss = Loss(failed)
    count, target = loss.classes, loss.target
    low, high = sure(target.range)
    marks = failed.mark(target, "mark_class", wrong=wrong)
    marks += failed.mark_size(loss.input, min(1, len(loss.input.shape) - 1), CAUSE)
    padding = wrong == low == -1  # as labels of padding usually are
    fixes = (
        failed.put(target, "{} - 1", "target_from_one_fix") if low >= 1 and high == count else None,
        failed.option("ignore_index", -1, "target_ignore_fix") if padding and failed.module is None else None,
        loss.created(lambda made: made.with_option("ignore_index", -1)) if padding else None,
        more_classes(loss, count, int(high) + 1) if wrong > 0 else None,
    )
    return loss.explain("target_class", *fixes, marks=marks, count=count, last=count - 1)


def more_classes(loss: Loss, count: int, new: int) -> Fix | None:
    """What to do: create the layer whose `count` outputs are the predictions with `new` ones."""
    index = loss.failed.case.scene.index
    born = index.births.get(loss.input.id)
    call = index.module_calls.at(index.times[id(born)]) if isinstance(born, Forward) else None
    layer = None if call is None else Layer(loss.failed.case, call, loss.input)
    fits = layer is not None and len(layer.sizes) == 2 and layer.sizes[1] == count
    fix = layer.resized(layer.sizes, 1, new) if layer is not None and fits else None
    return fix and Fix(loss.failed.words("or_class_fix", fix=fix.text, last=count - 1), fix.cause)


@call_rule("target_shape", "multi-target not supported")
def one_for_each(failed: FailedCall) -> Explanation | None:
    """The target has more than one number for each row."""
    loss = Loss(failed)
    rows, shape = loss.input.shape[0], loss.target.shape
    need(len(shape) > 1)
    method = ".reshape(-1)" if math.prod(shape) == rows else ""
    method = ".argmax(dim=1)" if shape == loss.input.shape else method
    method = ".squeeze(1)" if shape == (rows, 1) else method
    return loss.about_target("target_rows", method, "target_rows.fix")


@call_rule("target_shape", r"Expected input batch_size \({m}\) to match target batch_size \({n}\)")
def batches(failed: FailedCall, m: int, n: int) -> Explanation | None:
    """Predictions and targets are not equally many."""
    loss = Loss(failed)
    shape, fix = loss.input.shape, None
    if math.prod(loss.target.shape) == m:
        fix = failed.behind(loss.target, ".reshape(-1)")
    elif len(shape) == 3 and math.prod(shape[:2]) == n:
        fix = failed.behind(loss.input, ".flatten(0, 1)")
    both = {"input": loss.input.at(0), "target": loss.target.at(0)}
    return loss.explain("target_batch", fix, **both)


@call_rule("target_shape", r"Expected target size \[[\d, ]*\], got {got}")
def classes_last(failed: FailedCall, got: Shape) -> Explanation | None:
    """The classes do not stand in dimension 1."""
    loss = Loss(failed)
    shape, wanted = loss.input.shape, loss.target.shape
    need(wanted == got)
    method = ".transpose(1, 2)" if len(shape) == 3 else ".movedim(-1, 1)"
    method = method if shape[:-1] == wanted else ""
    ones = [i for i, size in enumerate(shape) if size == 1]
    if len(shape) == 3 and len(ones) == 1 and len(wanted) == 1 and ones[0] < 2:
        method = f".squeeze({ones[0]})"
    return loss.explain("target_last", failed.behind(loss.input, method), classes=loss.classes)


@call_rule("target_dtype", "Expected floating point type for target with class probabilities")
def probabilities(failed: FailedCall) -> Explanation | None:
    """A target of one number for each class is no floating point tensor."""
    loss = Loss(failed)
    need(loss.target.shape == loss.input.shape)
    if loss.input.whole:
        return chosen_already(loss)
    return loss.about_target("target_one_hot_why", ".float()")


def chosen_already(loss: Loss) -> Explanation:
    """The predictions are the classes that `argmax` chose, not a score for each class."""
    call, failed = loss.input.tree, loss.failed
    if not isinstance(call, ast.Call):
        call = next(iter(assigned_above(failed.case, loss.input.text)), None)
    need(isinstance(call, ast.Call) and last_name(call) == "argmax")
    method = isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) != "torch"  # type: ignore
    scores = call.func.value if method else call.args[0]  # type: ignore[union-attr]
    fix = failed.put(loss.input, ast.unparse(scores))
    return loss.explain("target_argmax", fix, key="target_first")


@call_rule("target_first", r"log_softmax.* not implemented for '(?:Long|Int|Byte|Short|Char|Bool)'")
def swapped(failed: FailedCall) -> Explanation | None:
    """The target stands first."""
    loss = Loss(failed)
    need(loss.input.whole, loss.target.dtype.startswith("float"))
    marks = failed.mark_dtypes(loss.input) + failed.mark_dtypes(loss.target, kind=CAUSE)
    return loss.explain("target_first", failed.exchange(loss.input, loss.target), marks=marks)


# ── one number for each prediction ──────────────────────────────────────────────────────────────────────────


@call_rule("target_shape", r"Target size \(|Using a target size \(|The size of tensor a \(")
def same_shape(failed: FailedCall) -> Explanation | None:
    """Predictions and targets differ in shape."""
    loss = Loss(failed)
    one, target = loss.input, loss.target
    need(one.shape != target.shape)
    marks = failed.mark_shapes(one, kind=CAUSE) + failed.mark_shapes(target)
    fix = failed.behind(target, reshaping(target.shape, one.shape))
    return loss.explain("target_same", fix, marks=marks)


def reshaping(shape: Shape, wanted: Shape) -> str:
    """The method that gives a shape the form of another one; "" if it has not as many elements."""
    if math.prod(shape) != math.prod(wanted):
        return ""
    if wanted == (*shape, 1):
        return f".unsqueeze({len(shape)})"
    if shape == (*wanted, 1):
        return f".squeeze({len(wanted)})"
    return ".T" if len(shape) == 2 and shape[::-1] == wanted else f".reshape{wanted}"


@call_rule("target_dtype", "can't be cast to the desired output type|Found dtype Long but expected")
def float_target(failed: FailedCall) -> Explanation | None:
    """The target of a loss between floating point tensors holds whole numbers."""
    loss = Loss(failed)
    need(not loss.target.dtype.startswith("float"), loss.function in (*BINARY, "mse_loss"))
    return loss.about_target("target_float_why", ".float()")


@call_rule("no_probabilities", "all elements of input should be between 0 and 1")
def no_probabilities(failed: FailedCall) -> Explanation | None:
    """The predictions do not lie between 0 and 1."""
    loss = Loss(failed)
    low, high = map(number, sure(loss.input.range))
    made, node = None, loss.failed.node
    if loss.function == "BCELoss":
        made = loss.created(lambda made: made.renamed("BCEWithLogitsLoss"))
    elif isinstance(node, ast.Call) and loss.function == "binary_cross_entropy":
        made = loss.failed.rewrite({node.func: f"{ast.unparse(node.func)}_with_logits"})
    marks = loss.failed.mark(loss.input, "mark_range", low=low, high=high)
    return loss.explain("target_logits", made, marks=marks, low=low, high=high)
