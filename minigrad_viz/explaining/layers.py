"""Layers that were given an input of the wrong shape: `Linear`, `Conv2d`, normalization, recurrent layers,
`Embedding`."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from ..model.module_calls import ModuleCall
from ..trace.events import TensorState
from ..trace.explained import Explanation
from ..trace.where import Span
from .at_call import of_a_call
from .case import Case, ErrorRule, rule
from .edits import Constructor, constructor, resized, with_method
from .operation import (
    Operand,
    Shape,
    failed_layer,
    failing,
    layer_input,
    layer_name,
    numbers,
    operands_of,
    shape_mark,
    size_mark,
    sized,
)

Fix = tuple[str, Span | None]


class Layer(NamedTuple):
    """A layer that failed: its call, and the input with what it is called. `written` is the input as it
    stands in the failing expression (None where it was computed inside a model)."""

    call: ModuleCall
    name: str
    input: TensorState
    shape: Shape
    written: Operand | None

    @property
    def sizes(self) -> Shape:
        """The numbers that tell the layer from others of its kind: 10 and 1 of `Linear 10→1`."""
        return numbers(self.call.event.about)

    def built(self, case: Case, sizes: Shape) -> Constructor | None:
        """The call that created the layer with `sizes` as its first arguments."""
        return constructor(case, self.call.event.kind, self.call.event.path, sizes)

    def values(self, case: Case) -> dict[str, object]:
        """What sentences about the layer tell."""
        told = {"layer": layer_name(self.call), "name": self.name, "shape": sized(case, self.shape)}
        return {"call": failing(case), **told}


def layer_of(case: Case) -> Layer | None:
    """The layer inside which the error came up."""
    call = failed_layer(case)
    given = None if call is None else layer_input(case, call)
    if call is None or given is None or given[1].value is None:
        return None
    name, state = given
    written = next((each for each in operands_of(case) if each.id == state.id), None)
    return Layer(call, name, state, given[1].value.shape, written)


def as_written(case: Case, layer: Layer, method: str) -> Fix | None:
    """What to do: the line that failed, with `method` behind the input; None if that does not stand there."""
    code = None if layer.written is None else with_method(case, layer.written.tree, method)
    return None if code is None else (case.words("layer_input_fix", code=code), None)


def built_otherwise(case: Case, layer: Layer, sizes: Shape, place: int, new: int) -> Fix | None:
    """What to do: another number in the call that created the layer."""
    made = layer.built(case, sizes)
    fix = None if made is None else made.changed(place, new)
    return None if made is None or fix is None else (fix, made.span)


def worked_before(case: Case, layer: Layer) -> bool:
    """Whether an earlier call of the same layer returned something."""
    calls = case.scene.index.module_calls.calls
    return any(call.event.path == layer.call.event.path and call.outputs for call in calls)


# ── Linear ──────────────────────────────────────────────────────────────────────────────────────────────────


def linear_input(case: Case, match: re.Match[str]) -> Explanation | None:
    """The last size of the input is not `in_features`."""
    layer = layer_of(case)
    if layer is None:
        return unseen_input(case)
    if len(layer.sizes) != 2 or not layer.shape or layer.shape[-1] == layer.sizes[0]:
        return None
    needed, given = layer.sizes[0], layer.shape[-1]
    why = case.words("linear_why", needed=needed, given=given, **layer.values(case))
    fix, cause = fitting_linear(case, layer) or (case.words("linear_fix", given=given), None)
    marks = size_mark(case, layer.input.id, len(layer.shape) - 1, given)
    return case.explain("layer_input", why, fix, marks, cause)


def unseen_input(case: Case) -> Explanation | None:
    """The same where nobody saw the input: a hook returned it, say."""
    call = failed_layer(case)
    left = re.search(r"(?:\(\d+x|got input \(\d+\), mat \(\d+x|vec \()(\d+)", case.error)
    sizes = () if call is None else numbers(call.event.about)
    if call is None or left is None or len(sizes) != 2 or int(left[1]) == sizes[0]:
        return None
    given = int(left[1])
    values = {"call": failing(case), "layer": layer_name(call), "needed": sizes[0], "given": given}
    why = case.words("linear_unseen_why", **values)
    made = constructor(case, call.event.kind, call.event.path, sizes)
    fix = None if made is None else made.changed(0, given)
    if made is None or fix is None:
        return case.explain("layer_input", why, case.words("linear_fix", given=given))
    return case.explain("layer_input", why, fix, (), made.span)


def fitting_linear(case: Case, layer: Layer) -> Fix | None:
    """What to do: turn the input to what the layer takes, or create the layer for the input."""
    shape, needed = layer.shape, layer.sizes[0]
    if len(shape) > 2 and math.prod(shape[1:]) == needed:
        return as_written(case, layer, ".flatten(1)") or (
            case.words("linear_flatten_fix", layer=layer_name(layer.call)),
            None,
        )
    if len(shape) == 2 and math.prod(shape) == needed:  # one image
        return as_written(case, layer, ".flatten()")
    if len(shape) == 1 and needed == 1:
        return as_written(case, layer, ".unsqueeze(1)")
    turned = len(shape) == 2 and shape[0] == needed and layer.input.is_leaf
    found = as_written(case, layer, ".T") if turned else None
    if layer.written is not None and worked_before(case, layer):  # so it is the input that is wrong
        return found or resized(case, layer.written, (*shape[:-1], needed))
    return found or built_otherwise(case, layer, layer.sizes, 0, shape[-1])


# ── Conv2d ──────────────────────────────────────────────────────────────────────────────────────────────────


def channels(case: Case, match: re.Match[str]) -> Explanation | None:
    """The input has another number of channels."""
    layer, needed, given = layer_of(case), int(match["needed"]), int(match["given"])
    if layer is None or len(layer.shape) < 3:
        return None
    dims = len(numbers(match["weight"]))
    dim = 1 if len(layer.shape) == dims else 0
    if layer.shape[dim] != given:
        return None
    why = case.words("channels_why", needed=needed, given=given, dim=dim, **layer.values(case))
    marks = size_mark(case, layer.input.id, dim, given)
    fix, cause = fitting_channels(case, layer, needed, dims) or (case.words("channels_fix"), None)
    return case.explain("layer_input", why, fix, marks, cause)


def fitting_channels(case: Case, layer: Layer, needed: int, dims: int) -> Fix | None:
    """What to do: move the channels to where the layer has them, insert them, or create the layer for the
    input."""
    count = len(layer.shape)
    if layer.shape[-1] == needed and count == dims == 4:
        return as_written(case, layer, ".permute(0, 3, 1, 2)")
    if layer.shape[-1] == needed and (count, dims) == (3, 4):
        return as_written(case, layer, ".permute(2, 0, 1)")
    if needed == 1 and count == dims - 1:
        return as_written(case, layer, ".unsqueeze(1)")
    return built_otherwise(case, layer, layer.sizes[:2], 0, layer.shape[1 if count == dims else 0])


def image_dims(case: Case, match: re.Match[str]) -> Explanation | None:
    """The input has too few or too many dimensions for a convolution or a pooling."""
    layer = layer_of(case)
    if layer is None or layer.shape != numbers(match["shape"]):
        return None
    least = int(match["least"])
    why = case.words("image_dims_why", least=least, most=least + 1, **layer.values(case))
    fix = fitting_image(case, layer, least) or (case.words("image_dims_fix"), None)
    return case.explain("layer_input", why, fix[0], shape_mark(case, layer.input))


def fitting_image(case: Case, layer: Layer, least: int) -> Fix | None:
    """What to do: insert the channel, or unfold rows of pixels to images."""
    shape, count = layer.shape, layer.sizes[0] if layer.sizes else 1
    if least != 3 or len(shape) != 2:
        return as_written(case, layer, ".unsqueeze(0)") if len(shape) == least - 1 and count == 1 else None
    side = math.isqrt(shape[1] // count)
    if side > 3 and side * side * count == shape[1]:  # a row of pixels, not a small image
        return as_written(case, layer, f".reshape(-1, {count}, {side}, {side})")
    return as_written(case, layer, ".unsqueeze(0)") if count == 1 else None


def kernel_size(case: Case, match: re.Match[str]) -> Explanation | None:
    """The kernel is larger than the image."""
    layer, kernel = layer_of(case), numbers(match["kernel"])
    if layer is None:
        return None
    sizes = {"kernel": "×".join(map(str, kernel)), "padded": "×".join(map(str, numbers(match["size"])))}
    why = case.words("kernel_why", **sizes, **layer.values(case))
    made, pad = layer.built(case, layer.sizes[:2]), max(kernel) // 2
    fix = None if made is None else made.with_option("padding", pad)
    marks = shape_mark(case, layer.input)
    if made is None or fix is None:
        return case.explain("layer_input", why, case.words("kernel_fix"), marks)
    return case.explain("layer_input", why, fix, marks, made.span)


def too_small(case: Case, match: re.Match[str]) -> Explanation | None:
    """Nothing would be left of the image after pooling."""
    layer = layer_of(case)
    if layer is None:
        return None
    why = case.words("pool_why", **layer.values(case))
    return case.explain("layer_input", why, case.words("pool_fix"), shape_mark(case, layer.input))


# ── layers with one size ────────────────────────────────────────────────────────────────────────────────────


def one_size(case: Case, match: re.Match[str]) -> Explanation | None:
    """The size that a layer was created for is not that of the input: normalization, recurrent layers."""
    layer, needed, given = layer_of(case), int(match["needed"]), int(match["given"])
    if layer is None or given not in layer.shape:
        return None
    last = layer.call.event.kind.startswith(("LayerNorm", "LSTM", "GRU", "RNN")) or len(layer.shape) == 2
    dim = len(layer.shape) - 1 if last else 1
    why = case.words("one_size_why", needed=needed, given=given, dim=dim, **layer.values(case))
    fix, cause = built_otherwise(case, layer, (needed,), 0, given) or (case.words("one_size_fix"), None)
    return case.explain("layer_input", why, fix, size_mark(case, layer.input.id, dim, given), cause)


def norm_dims(case: Case, match: re.Match[str]) -> Explanation | None:
    """A normalization for images was given rows, or the other way round."""
    layer = layer_of(case)
    if layer is None:
        return None
    why = case.words("norm_dims_why", needed=match["needed"], given=match["given"], **layer.values(case))
    kind = layer.call.event.kind
    wanted = f"{kind[:-2]}{max(len(layer.shape) - 2, 1)}d"
    made = constructor(case, kind, layer.call.event.path, ())
    fix = None if made is None or wanted == kind else made.renamed(wanted)
    marks = shape_mark(case, layer.input)
    if made is None or fix is None:
        return case.explain("layer_input", why, case.words("one_size_fix"), marks)
    return case.explain("layer_input", why, fix, marks, made.span)


def embedding_index(case: Case, match: re.Match[str]) -> Explanation | None:
    """An index is larger than the table of an embedding."""
    layer = layer_of(case)
    if layer is None or len(layer.sizes) != 2 or layer.input.value is None:
        return None
    rows, low, high = layer.sizes[0], layer.input.value.low, layer.input.value.high
    if low is None or high is None:
        return None
    wrong = int(high) if high >= rows else int(low)
    why = case.words("embedding_why", rows=rows, last=rows - 1, wrong=wrong, **layer.values(case))
    marks = case.card(layer.input.id, label=case.words("mark_index", index=wrong))
    fix = built_otherwise(case, layer, layer.sizes, 0, wrong + 1) if wrong >= 0 else None
    if fix is None:
        return case.explain("index_range", why, case.words("embedding_fix", last=rows - 1), marks)
    return case.explain("index_range", why, fix[0], marks, fix[1])


DIMS = r"Expected (?P<least>\d)D \(unbatched\) or \dD \(batched\) input to \w+, but got input of size: "
LEAST = r"(?P<needed>\d+)D(?: or \dD)? input \(got (?P<given>\d)D input\)"
KERNEL = (
    r"Calculated padded input size per channel: \((?P<size>[\dx ]+)\)\. Kernel size: \((?P<kernel>[\dx ]+)\)"
)
NEEDED = (
    r"running_mean should contain (?P<given>\d+) elements not (?P<needed>\d+)",
    r"Given normalized_shape=\[(?P<needed>\d+)\], .*input of size\[[\d, ]*?(?P<given>\d+)\]",
    r"input\.size\(-1\) must be equal to input_size\. Expected (?P<needed>\d+), got (?P<given>\d+)",
)
CHANNELS = (
    r"Given groups=1, weight of size \[(?P<weight>[\d, ]+)\], .*"
    r"to have (?P<needed>\d+) channels, but got (?P<given>\d+) channels"
)

RULES: dict[str, ErrorRule] = {
    pattern: rule(pattern, of_a_call(explain))
    for pattern, explain in {
        "shapes cannot be multiplied|size mismatch, got input": linear_input,
        CHANNELS: channels,
        DIMS + r"\[(?P<shape>[\d, ]*)\]": image_dims,
        KERNEL: kernel_size,
        "Output size is too small": too_small,
        **dict.fromkeys(NEEDED, one_size),
        "expected " + LEAST: norm_dims,
        "index out of range in self": embedding_index,
    }.items()
}
