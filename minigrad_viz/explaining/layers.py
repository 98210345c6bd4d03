"""Layers that were given an input of the wrong shape: `Linear`, `Conv2d`, normalization, recurrent layers,
`Embedding`."""

from __future__ import annotations

import math
import re

from ..model.births import came_from
from ..trace.events import Forward
from ..trace.explained import Explanation
from .case import Fix, Values, need, sure
from .edits import Shape
from .failed_call import FailedCall, call_rule
from .operands import Layer, Operand
from .rules import numbers


def turned(failed: FailedCall, layer: Layer, method: str) -> Fix | None:
    """What to do: the line that failed, with `method` behind the input; None if that does not stand there."""
    return failed.behind(layer.input, method, "layer_input_fix")


def either(failed: FailedCall, layer: Layer, fix: Fix | None, one: Operand, needed: int) -> Fix | None:
    """What to do about the layer; and what to do instead about its input `one`, where that is data or comes
    from another layer, as that may be what is wrong."""
    if fix is None or one.state is None:
        return fix
    made = failed.resize(one, one.sized(needed)) or feeding(failed, layer, needed)
    if made is not None:
        return Fix(failed.words("or_input_fix", fix=fix.text, other=made.text), fix.cause)
    if not one.state.is_leaf:
        return fix
    return Fix(failed.words("or_data_fix", fix=fix.text, name=one, needed=needed), fix.cause)


def feeding(failed: FailedCall, layer: Layer, needed: int) -> Fix | None:
    """What to do about the layer that an input comes from, through functions of single elements: give it
    as many outputs as are needed."""
    index, tensor = failed.case.scene.index, layer.input.id
    while isinstance(born := index.births.get(tensor), Forward):
        call, sources = index.module_calls.at(index.times[id(born)]), came_from(born)
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
    left = sure(re.search(r"(?:\(\d+x|got input \(\d+\), mat \(\d+x|vec \()(\d+)", failed.case.error))
    layer, given = Layer(failed.case, sure(failed.module), Operand("", ())), int(left[1])
    need(len(layer.sizes) == 2, given != layer.sizes[0])
    fixes, needed = (layer.resized(layer.sizes, 0, given), "linear.fix"), layer.sizes[0]
    return failed.explain("linear_unseen_why", *fixes, layer=layer.name, needed=needed, given=given)


def fitting_linear(failed: FailedCall, layer: Layer, one: Operand) -> Fix | None:
    """What to do: turn the input to what the layer takes, or create the layer for the input."""
    shape, needed = one.shape, layer.sizes[0]
    if len(shape) > 2 and math.prod(shape[1:]) == needed:
        return turned(failed, layer, ".flatten(1)") or Fix(failed.words("linear_flatten_fix"))
    if len(shape) == 2 and math.prod(shape) == needed:  # one image
        return turned(failed, layer, ".flatten()")
    if len(shape) == 1 and needed == 1:
        return turned(failed, layer, ".unsqueeze(1)")
    given = len(shape) == 2 and shape[0] == needed and one.state is not None and one.state.is_leaf
    found, new = turned(failed, layer, ".T") if given else None, layer.resized(layer.sizes, 0, one.size)
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
    layer = sure(failed.layer)
    one, method = of_channels(layer.input, weight, given), moved(layer.input.shape, needed, len(weight))
    fix = turned(failed, layer, method) if method else layer.resized(layer.sizes[:2], 0, given)
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
    w = sure(failed.first(lambda each: each.shape == weight)).at(1)
    one = of_channels(failed.operands[0], weight, given)
    new, other = failed.resize(w, w.sized(given)), failed.resize(one, one.sized(needed))
    if new is not None and other is not None:
        new = Fix(failed.words("or_layer_fix", fix=new.text, name=w, other=other.text), new.cause)
    turned = failed.behind(one, moved(one.shape, needed, len(weight)), "layer_input_fix")
    return failed.explain("channels_function", turned, new, other, name=one, weight=w)


def moved(shape: Shape, needed: int, dims: int) -> str:
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
    layer = sure(failed.layer)
    need(layer.input.shape == shape)
    fix = turned(failed, layer, as_image(shape, layer.sizes[0] if layer.sizes else 1, least))
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
    layer = sure(failed.layer)
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
    model = sure(failed.layer).call.chain()[0].event.path
    return failed.explain("one_example", model=model)


# ── layers with one size ────────────────────────────────────────────────────────────────────────────────────


@call_rule(
    "layer_input",
    "running_mean should contain {given} elements not {needed}",
    r"Given normalized_shape=\[{needed}\], .*input of size\[[\d, ]*?{given}\]",
    r"input\.size\(-1\) must be equal to input_size\. Expected {needed}, got {given}",
)
def one_size(failed: FailedCall, given: int, needed: int) -> Explanation | None:
    """The size that a layer was created for is not that of the input: normalization, recurrent layers."""
    layer = sure(failed.layer)
    need(given in layer.input.shape)
    last = layer.kind.startswith(("LayerNorm", "LSTM", "GRU", "RNN")) or len(layer.input.shape) == 2
    one = layer.input.at(-1 if last else 1)
    fix = either(failed, layer, layer.resized((needed,), 0, given), one, needed)
    return failed.explain("one_size", fix, name=one)


@call_rule("layer_input", r"expected {needed}D(?: or \dD)? input \(got {given}D input\)")
def norm_dims(failed: FailedCall, **dims: int) -> Explanation:
    """A normalization for images was given rows, or the other way round."""
    layer = sure(failed.layer)
    wanted = f"{layer.kind[:-2]}{max(len(layer.input.shape) - 2, 1)}d"
    fix = layer.build(lambda made: made.renamed(wanted)) if wanted != layer.kind else None
    return failed.explain("norm_dims_why", fix, "one_size.fix")


@call_rule("index_range", "index out of range in self")
def embedding_index(failed: FailedCall) -> Explanation | None:
    """An index is larger than the table of an embedding."""
    layer = sure(failed.layer)
    need(len(layer.sizes) == 2)
    rows, (low, high) = layer.sizes[0], sure(layer.input.range)
    wrong = int(high) if high >= rows else int(low)
    marks = failed.mark(layer.input, "mark_index", index=wrong)
    fix = layer.resized(layer.sizes, 0, wrong + 1) if wrong >= 0 else None
    fix = fix and Fix(failed.words("or_index_fix", fix=fix.text, last=rows - 1), fix.cause)
    told: Values = {"rows": rows, "last": rows - 1, "wrong": wrong}
    return failed.explain("embedding", fix, marks=marks, **told)
