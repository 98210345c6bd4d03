"""Layers that were given an input of the wrong shape, and losses that were given a wrong target."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable
from typing import Any

from ..model.provenance import op_behind
from ..number_text import number
from ..trace.graph import CAUSE, Explanation
from .case import Fix, Uncertain, Values, need, numbers, require
from .edits import Constructor, Shape
from .failed_call import FLOATING, FailedCall, Layer, Operand, call_rule
from .syntax import assigned_above, last_name

# ─── Layers that were given an input of the wrong shape


def method_on_input(failed: FailedCall, layer: Layer, method: str) -> Fix | None:
    """What to do: the line that failed, with `method` behind the input; None if there is none."""
    return failed.behind(layer.input, method, "layer_input_fix")


def either(failed: FailedCall, layer: Layer, fix: Fix | None, one: Operand, needed: int) -> Fix | None:
    """What to do about the layer; and what to do instead about its input `one`, where that is data or comes
    from another layer, as that may be what is wrong."""
    if fix is None or one.state is None:
        return fix
    made = failed.resize(one, one.sized(needed)) or fix_layer_before(failed, layer, needed)
    if made is not None:
        return Fix(failed.words("or_input_fix", fix=fix.text, other=made.text), fix.cause)
    if not one.state.is_leaf:
        return fix
    return Fix(failed.words("or_data_fix", fix=fix.text, name=one, needed=needed), fix.cause)


def fix_layer_before(failed: FailedCall, layer: Layer, needed: int) -> Fix | None:
    """What to do about the layer that an input comes from, through functions of single elements: give it
    as many outputs as are needed."""
    index, tensor = failed.case.scene.index, layer.input.id
    while (born := op_behind(index.births, tensor)) is not None:
        call, sources = index.module_calls.at(index.times[id(born)]), list(born.read)
        source = None if call is None else Layer(failed.case, call, layer.input)
        if source is not None and len(source.sizes) > 1:
            fits = source.sizes[1] == layer.input.shape[-1] and source.kind == layer.kind
            return source.resized(source.sizes[:2], 1, needed) if fits else None
        before = failed.case.made(sources[0]) if len(sources) == 1 else None
        if before is None or before.value is None or before.value.shape != layer.input.shape:
            return None
        tensor = before.id
    return None


# ── Linear ──────────────────────────────────────────────────────────────────────────────────────────────────


@call_rule("layer_input", "shapes cannot be multiplied|size mismatch, got input")
def linear_input(failed: FailedCall) -> Explanation | None:
    """The last size of the input is not `in_features`."""
    layer = failed.layer
    if layer is None:
        return unseen_input(failed)
    need(len(layer.sizes) == 2, layer.input.shape)
    one, needed = layer.input.at(-1), layer.sizes[0]
    need(one.size != needed)
    fix = fitting_linear(failed, layer, one)
    return failed.explain("linear", fix, name=one, needed=needed, given=one.size)


def unseen_input(failed: FailedCall) -> Explanation | None:
    """The same where nobody saw the input: a hook returned it, say."""
    left = require(re.search(r"(?:\(\d+x|got input \(\d+\), mat \(\d+x|vec \()(\d+)", failed.case.error))
    layer, given = Layer(failed.case, require(failed.module), Operand("", ())), int(left[1])
    need(len(layer.sizes) == 2, given != layer.sizes[0])
    fixes, needed = (layer.resized(layer.sizes, 0, given), "linear.fix"), layer.sizes[0]
    return failed.explain("linear_unseen_why", *fixes, layer=layer.name, needed=needed, given=given)


def fitting_linear(failed: FailedCall, layer: Layer, one: Operand) -> Fix | None:
    """What to do: turn the input to what the layer takes, or create the layer for the input."""
    shape, needed = one.shape, layer.sizes[0]
    if len(shape) > 2 and math.prod(shape[1:]) == needed:
        return method_on_input(failed, layer, ".flatten(1)") or Fix(failed.words("linear_flatten_fix"))
    if len(shape) == 2 and math.prod(shape) == needed:  # one image
        return method_on_input(failed, layer, ".flatten()")
    if len(shape) == 1 and needed == 1:
        return method_on_input(failed, layer, ".unsqueeze(1)")
    given = len(shape) == 2 and shape[0] == needed and one.state is not None and one.state.is_leaf
    found, new = (
        method_on_input(failed, layer, ".T") if given else None,
        layer.resized(layer.sizes, 0, one.size),
    )
    if one.tree is not None and layer.worked_before:  # so it is the input that is wrong
        return found or failed.resize(one, one.sized(needed))
    if found is not None and new is not None:
        return Fix(failed.words("or_layer_fix", fix=found.text, name=one, other=new.text), new.cause)
    return found or either(failed, layer, new, one, needed)


# ── convolution and pooling ─────────────────────────────────────────────────────────────────────────────────


@call_rule("layer_input", "weight of size {weight}, .*to have {needed} channels, but got {given} channels")
def channels(failed: FailedCall, weight: Shape, needed: int, given: int) -> Explanation | None:
    """The input has another number of channels."""
    if failed.module is None:
        return channels_of_function(failed, weight, needed, given)
    layer = require(failed.layer)
    one, method = (
        of_channels(layer.input, weight, given),
        channel_move(layer.input.shape, needed, len(weight)),
    )
    fix = method_on_input(failed, layer, method) if method else layer.resized(layer.sizes[:2], 0, given)
    fix = fix if method else either(failed, layer, fix, one, needed)
    return failed.explain("channels", fix, name=one)


def of_channels(one: Operand, weight: Shape, given: int) -> Operand:
    """The input of a convolution, of which the number of channels is in question."""
    need(len(one.shape) > 2)
    one = one.at(1 if len(one.shape) == len(weight) else 0)
    need(one.size == given)
    return one


def channels_of_function(failed: FailedCall, weight: Shape, needed: int, given: int) -> Explanation:
    """The same for the function: `conv2d(x, w)`."""
    w = require(failed.first(lambda each: each.shape == weight)).at(1)
    one = of_channels(failed.operands[0], weight, given)
    new, other = failed.resize(w, w.sized(given)), failed.resize(one, one.sized(needed))
    if new is not None and other is not None:
        new = Fix(failed.words("or_layer_fix", fix=new.text, name=w, other=other.text), new.cause)
    turned = failed.behind(one, channel_move(one.shape, needed, len(weight)), "layer_input_fix")
    return failed.explain("channels_function", turned, new, other, name=one, weight=w)


def channel_move(shape: Shape, needed: int, dims: int) -> str:
    """The method that moves the channels to where a convolution has them, or inserts them; "" if none
    does."""
    if shape[-1] == needed and len(shape) == dims == 4:
        return ".permute(0, 3, 1, 2)"
    if shape[-1] == needed and (len(shape), dims) == (3, 4):
        return ".permute(2, 0, 1)"
    return ".unsqueeze(1)" if needed == 1 and len(shape) == dims - 1 else ""


@call_rule("layer_input", r"Expected (?P<least>\d)D \(unbatched\) .* but got input of size: {shape}")
def image_dims(failed: FailedCall, least: int, shape: Shape) -> Explanation | None:
    """The input has too few or too many dimensions for a convolution or a pooling."""
    layer = require(failed.layer)
    need(layer.input.shape == shape)
    fix = method_on_input(failed, layer, as_image(shape, layer.sizes[0] if layer.sizes else 1, least))
    return failed.explain("image_dims", fix, most=least + 1)


def as_image(shape: Shape, count: int, least: int) -> str:
    """The method that inserts the channel, or unfolds rows of pixels to images; "" if none does."""
    if least == 3 and len(shape) == 2:
        side = math.isqrt(shape[1] // count)
        if side > 3 and side * side * count == shape[1]:  # a row of pixels, not a small image
            return f".reshape(-1, {count}, {side}, {side})"
    return ".unsqueeze(0)" if count == 1 and len(shape) == least - 1 else ""


@call_rule(
    "layer_input",
    r"padded input size .*: \((?P<padded>[\dx ]+)\)\. Kernel size: \((?P<kernel>[\dx ]+)\)",
)
def kernel_size(failed: FailedCall, padded: object, kernel: object) -> Explanation:
    """The kernel is larger than the image."""
    layer = require(failed.layer)
    most, sizes = max(numbers(str(kernel))), [str(each).replace(" x ", "×") for each in (kernel, padded)]
    fix = layer.build(lambda made: made.with_option("padding", most // 2), layer.sizes[:2])
    return failed.explain("kernel", fix, kernel=sizes[0], padded=sizes[1])


@call_rule("layer_input", "Output size is too small")
def too_small(failed: FailedCall) -> Explanation:
    """Nothing would be left of the image after pooling."""
    return failed.explain("pool", name=failed.layer.input if failed.layer else failed.operands[0])


@call_rule("layer_input", "Expected more than 1 value per channel when training")
def one_example(failed: FailedCall) -> Explanation:
    """A normalization over the batch was given a single example in training mode."""
    call = require(failed.layer).call
    if not call.event.path:  # created for this call, so that no eval() of a model reaches it
        return failed.explain("one_example", "one_example_created_fix", model="")
    return failed.explain("one_example", model=call.chain()[0].event.path)


# ── layers with one size ────────────────────────────────────────────────────────────────────────────────────


@call_rule(
    "layer_input",
    "running_mean should contain {given} elements not {needed}",
    r"Given normalized_shape=\[{needed}\], .*input of size\[[\d, ]*?{given}\]",
    r"input\.size\(-1\) must be equal to input_size\. Expected {needed}, got {given}",
)
def one_size(failed: FailedCall, given: int, needed: int) -> Explanation | None:
    """The size that a layer was created for is not that of the input: normalization, recurrent layers."""
    layer = require(failed.layer)
    need(given in layer.input.shape)
    last = layer.kind.startswith(("LayerNorm", "LSTM", "GRU", "RNN")) or len(layer.input.shape) == 2
    one = layer.input.at(-1 if last else 1)
    fix = either(failed, layer, layer.resized((needed,), 0, given), one, needed)
    return failed.explain("one_size", fix, name=one)


@call_rule("layer_input", r"expected {needed}D(?: or \dD)? input \(got {given}D input\)")
def norm_dims(failed: FailedCall, **dims: int) -> Explanation:
    """A normalization for images was given rows, or the other way round."""
    layer = require(failed.layer)
    wanted = f"{layer.kind[:-2]}{max(len(layer.input.shape) - 2, 1)}d"
    fix = layer.build(lambda made: made.renamed(wanted)) if wanted != layer.kind else None
    return failed.explain("norm_dims_why", fix, "one_size.fix")


@call_rule("index_range", "index out of range in self")
def embedding_index(failed: FailedCall) -> Explanation | None:
    """An index is larger than the table of an embedding."""
    layer = require(failed.layer)
    need(len(layer.sizes) == 2)
    rows, (low, high) = layer.sizes[0], require(layer.input.range)
    wrong = int(high) if high >= rows else int(low)
    marks = failed.mark(layer.input, "mark_index", index=wrong)
    fix = layer.resized(layer.sizes, 0, wrong + 1) if wrong >= 0 else None
    fix = fix and Fix(failed.words("or_index_fix", fix=fix.text, last=rows - 1), fix.cause)
    told: Values = {"rows": rows, "last": rows - 1, "wrong": wrong}
    return failed.explain("embedding", fix, marks=marks, **told)


# ─── Losses that were given a wrong target


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
    """The class indices are not integers."""
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
    low, high = require(target.range)
    marks = failed.mark(target, "mark_class", wrong=wrong)
    marks += failed.mark_size(loss.input, min(1, len(loss.input.shape) - 1), CAUSE)
    padding = wrong == low == -1  # as labels of padding usually are
    fixes = (
        failed.put(target, "{} - 1", "target_from_one_fix") if low >= 1 and high == count else None,
        failed.option("ignore_index", -1, "target_ignore_fix") if padding and failed.module is None else None,
        loss.created(lambda made: made.with_option("ignore_index", -1)) if padding else None,
        more_classes(loss, count, int(high) + 1) if wrong > 0 else None,
    )
    key = "target_class" if count > 1 else "target_class_one"
    return loss.explain(key, *fixes, marks=marks, count=count, last=count - 1)


def more_classes(loss: Loss, count: int, new: int) -> Fix | None:
    """What to do: create the layer whose `count` outputs are the predictions with `new` ones."""
    index = loss.failed.case.scene.index
    born = op_behind(index.births, loss.input.id)
    call = index.module_calls.at(index.times[id(born)]) if born is not None else None
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
    """The classes are not in dimension 1."""
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
    """A target with one number for each class is not a floating-point tensor."""
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
def target_first(failed: FailedCall) -> Explanation | None:
    """The target is first."""
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
    fix = failed.behind(target, reshape_method(target.shape, one.shape))
    return loss.explain("target_same", fix, marks=marks)


def reshape_method(shape: Shape, wanted: Shape) -> str:
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
    try:
        loss = Loss(failed)
        low, high = map(number, require(loss.input.range))
    except Uncertain:
        kind = failed.function if failed.module is None else failed.module.event.kind
        return failed.explain("target_logits_unseen", function=kind or "binary_cross_entropy")
    made, node = None, loss.failed.node
    if loss.function == "BCELoss":
        made = loss.created(lambda made: made.renamed("BCEWithLogitsLoss"))
    elif isinstance(node, ast.Call) and loss.function == "binary_cross_entropy":
        made = loss.failed.rewrite({node.func: f"{ast.unparse(node.func)}_with_logits"})
    marks = loss.failed.mark(loss.input, "mark_range", low=low, high=high)
    return loss.explain("target_logits", made, marks=marks, low=low, high=high)
