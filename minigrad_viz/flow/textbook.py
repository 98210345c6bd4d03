"""Derivatives as textbooks write them, of ops whose own vjp is one call of a backward kernel.

Note [Textbook formulas]
    `embedding_dense_backward(…)` says nothing to a reader. The functions below write the same derivative in
    the letters of textbooks: `x̂` for the normalized input, `σ` for its standard deviation, `g` for the
    gradient that arrived where the output has no name, and sums over indices as sums over indices. They
    compute what they write, so they are shown only where their numbers agree with the recorded gradient, like
    any formula. What they cannot write raises Unwritable; then the op's own vjp is tried.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from minigrad.observing import F

from .symbols import (
    BRACKET,
    CALL,
    ELEMENT,
    GIVEN,
    MATMUL,
    NAME,
    RELATION,
    TOTAL,
    TRANSPOSE,
    Symbol,
    Unwritable,
)

POSITIONS, WINDOW, INPUT = "uvw", "ijk", "abc"  # letters: of the output, inside a kernel, of the input
ROWS = "nt"  # of what is normalized row by row: samples, and times
GRID = 2**20  # products of a sum that are computed one by one
ONE = 1.0

# ─── Names, means and sums


def incoming_gradient(g: Symbol) -> Symbol:
    """The gradient that arrived: under the bar of its tensor's name, or `g` where that has none."""
    return g if g.text.isidentifier() else Symbol(GIVEN, value=g.value, shape=g.shape)


def letter(text: str, value: Any, shape: Sequence[int]) -> Symbol:
    """A name that only textbooks have."""
    return Symbol(NAME, value=value, shape=tuple(shape), text=text)


def tensor_by_name(symbol: Symbol, text: str) -> Symbol:
    """A saved tensor by a name: its own, or `text` where only its numbers are known."""
    return symbol if symbol.head == NAME else letter(text, symbol.value, symbol.shape)


def compute_value(make: Callable[..., Any], *symbols: Symbol | None) -> Any:
    """What numbers of symbols make; None where some are not known."""
    values = [None if s is None else s.value for s in symbols]
    if any(s is not None and value is None for s, value in zip(symbols, values, strict=True)):
        return None
    with np.errstate(all="ignore"):
        return make(*values)


def reduced_shape(shape: Sequence[int], dims: Collection[int]) -> tuple[int, ...]:
    """A shape with 1 instead of some dimensions."""
    return tuple(1 if d in dims else n for d, n in enumerate(shape))


def mean(x: Symbol, dims: tuple[int, ...]) -> Symbol:
    """`mean(x)` over dimensions that stay, with size 1."""
    value = compute_value(lambda a: a.mean(dims, keepdims=True), x)
    return Symbol(CALL, (x,), value, reduced_shape(x.shape, dims), "mean")


def row_sum(x: Symbol) -> Symbol:
    """`sum(x)` over each row, which stays, with size 1."""
    value = compute_value(lambda a: a.sum(-1, keepdims=True), x)
    return Symbol(CALL, (x,), value, (*x.shape[:-1], 1), "sum")


def indicator(text: str, value: Any, shape: Sequence[int]) -> Symbol:
    """`[x = max x]`: 1 where a condition holds, else 0."""
    left, right = text.split(" = ")
    size = tuple(shape)
    condition = Symbol(RELATION, (letter(left, None, size), letter(right, None, size)), None, size, "=")
    return Symbol(BRACKET, (condition,), value, size)


class Terms(NamedTuple):
    """The products that one element of a sum consists of, by its index: their factors, the largest first."""

    of: Callable[[tuple[int, ...]], list[tuple[float, ...]]]


def at_index(x: Symbol, indices: str) -> Symbol:
    """`x[u+i, v+j]`: one element."""
    return Symbol(ELEMENT, (x,), None, (), indices)


def total(body: Symbol, over: str, left: str, value: Any, shape: Sequence[int], terms: Any = None) -> Symbol:
    """`Σᵤᵥ …`: for the element `left` of the result the sum of `body` over all indices in `over`."""
    return Symbol(TOTAL, (body, left, terms), value, tuple(shape), over)


# ─── Sums of products of elements


class Index(NamedTuple):
    """An index of one dimension: letters with their factors, plus an offset, all divided. A `group` is one
    more term: a letter, how many of its values are in a group, and the factor of the group's number."""

    terms: tuple[tuple[str, int], ...]
    offset: int = 0
    divisor: int = 1
    group: tuple[str, int, int] | None = None

    def __str__(self) -> str:
        text = ""
        terms = [*self.terms]
        if self.group is not None:
            name, size, many = self.group
            terms.append((name if size == 1 else f"⌊{name}/{size}⌋", many))
        for name, factor in terms:
            sign = "−" if factor < 0 else "+" if text else ""
            text += f"{sign}{abs(factor) if abs(factor) != 1 else ''}{name}"
        text += f"{self.offset:+d}".replace("-", "−") if self.offset else ""
        return f"({text})/{self.divisor}" if self.divisor != 1 else text


def plain(name: str) -> Index:
    """A letter alone."""
    return Index(((name, 1),))


def letters(*names: Sequence[str]) -> tuple[Index, ...]:
    """Letters alone, one for each dimension."""
    return tuple(plain(name) for some in names for name in some)


def index_text(indices: Sequence[Index], sizes: dict[str, int]) -> str:
    """Indices as they are written; a single letter of size 1 says nothing and is left out."""
    kept = [
        i for i in indices if len(i.terms) > 1 or i.offset or i.group or any(sizes[n] > 1 for n, _ in i.terms)
    ]
    return ", ".join(map(str, kept or indices[-1:]))


Factor = tuple[Symbol, tuple[Index, ...]]


def sum_of_products(
    factors: Sequence[Factor], left: Sequence[str], over: Sequence[str], sizes: dict[str, int]
) -> Symbol:
    """`Σᵤᵥ x[u+i, v+j] · g[u, v]` with its numbers: elements outside of a tensor do not count."""
    body = at_index(factors[0][0], index_text(factors[0][1], sizes))
    for symbol, indices in factors[1:]:
        body = body * at_index(symbol, index_text(indices, sizes))
    letters = [*left, *over]
    known = all(symbol.value is not None for symbol, _ in factors)
    grid = tuple(sizes[name] for name in letters)
    value, terms = None, None
    if known and math.prod(grid) <= GRID:
        parts = [gather_elements(symbol.value, indices, letters, grid) for symbol, indices in factors]
        products = math.prod(parts[1:], start=parts[0])
        value = products.sum(tuple(range(len(left), len(grid))))

        def of(index: tuple[int, ...]) -> list[tuple[float, ...]]:
            numbers = [np.broadcast_to(part, grid)[index].reshape(-1) for part in parts]
            terms = math.prod(numbers[1:], start=numbers[0])
            order = np.argsort(-np.abs(terms), kind="stable")
            return [tuple(float(each[k]) for each in numbers) for k in order if terms[k]]

        terms = Terms(of)
    names = "".join(name for name in over if sizes[name] > 1) or "".join(over[-1:])
    written = index_text([plain(name) for name in left], sizes)
    return total(body, names, written, value, grid[: len(left)], terms)


def gather_elements(
    array: Any, indices: Sequence[Index], letters: Sequence[str], grid: tuple[int, ...]
) -> Any:
    """The elements of an array for all values of some letters; 0 outside of it."""
    at = dict(zip(letters, np.indices(grid, sparse=True), strict=True))
    inside, positions = np.ones(grid, bool), []
    for size, index in zip(array.shape, indices, strict=True):
        position = sum((at[name] * factor for name, factor in index.terms), np.array(index.offset))
        if index.group is not None:
            name, many, factor = index.group
            position = position + at[name] // many * factor
        inside = inside & (position % index.divisor == 0)
        position = position // index.divisor
        inside = inside & (position >= 0) & (position < size)
        positions.append(np.broadcast_to(np.clip(position, 0, size - 1), grid))
    return np.where(inside, array[tuple(positions)], 0)


# ─── Convolution


class Sliding(NamedTuple):
    """How a kernel slides over an image: letters and sizes of its dimensions."""

    sizes: dict[str, int]
    n: int
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    transposed: bool
    groups: int

    @property
    def inner(self) -> int:
        """Channels of the input in a group."""
        return self.sizes["c"]

    def seen(self, d: int) -> Index:
        """Where a kernel at position u sees the number under its own i: `2u+i−1`."""
        return Index(((POSITIONS[d], self.stride[d]), (WINDOW[d], self.dilation[d])), -self.padding[d])

    def seen_from(self, d: int) -> Index:
        """At which position the kernel's i sees the number a: `(a+1−i)/2`."""
        return Index(((INPUT[d], 1), (WINDOW[d], -self.dilation[d])), self.padding[d], self.stride[d])


def sliding(
    image: Sequence[int], kernel: Sequence[int], output: Sequence[int], stride: Any, padding: Any,
    dilation: Any, groups: Any, transposed: Any,
) -> Sliding:  # fmt: skip
    """The dimensions of a convolution. A transposed one goes from its output to its input as another goes
    from the input to the output: both are exchanged."""
    n = len(kernel) - 2
    if n > len(POSITIONS) or len(image) != len(kernel) or (transposed and groups != 1):
        raise Unwritable("more dimensions than letters, or groups of a transposed convolution")
    sizes = {"n": image[0], "c": kernel[1], "o": kernel[0]}
    if transposed:
        sizes |= {"c": kernel[0], "o": kernel[1]}
        image, output = output, image
    for d in range(n):
        sizes |= {POSITIONS[d]: output[d + 2], WINDOW[d]: kernel[d + 2], INPUT[d]: image[d + 2]}
    if "c" in INPUT[:n]:  # three dimensions: the channel has a letter of its own
        raise Unwritable("three dimensions")
    step, pad, spread = (tuple(each) * (n // len(each)) for each in (stride, padding, dilation))
    return Sliding(sizes, n, step, pad, spread, bool(transposed), int(groups))


def convolution_weight(
    g: Any, input: Any, weight_sym_sizes: Any, stride: Any, padding: Any, dilation: Any, groups: Any,
    transposed: Any,
) -> Any:  # fmt: skip
    """Each kernel number: what it saw times the gradient that came back there, over all positions."""
    way = sliding(input.shape, weight_sym_sizes, g.shape, stride, padding, dilation, groups, transposed)
    places, inside = list(POSITIONS[: way.n]), list(WINDOW[: way.n])
    channel = plain("c")
    if way.groups > 1:  # the channels of the group that the output belongs to
        channel = Index((("c", 1),) * (way.inner > 1), group=("o", way.sizes["o"] // way.groups, way.inner))
    image, gradient = tensor_by_name(input, "input"), incoming_gradient(g)
    seen = tuple(map(way.seen, range(way.n)))
    if way.transposed:
        factors = (image, letters("nc", places)), (gradient, (*letters("no"), *seen))
        return sum_of_products(factors, ["c", "o", *inside], ["n", *places], way.sizes)
    factors = (image, (plain("n"), channel, *seen)), (gradient, letters("no", places))
    return sum_of_products(factors, ["o", "c", *inside], ["n", *places], way.sizes)


def convolution_input(
    g: Any, weight: Any, input_sym_sizes: Any, stride: Any, padding: Any, dilation: Any, groups: Any,
    transposed: Any,
) -> Any:  # fmt: skip
    """Each pixel: the gradients of all positions that saw it, through the kernel number that saw it."""
    way = sliding(input_sym_sizes, weight.shape, g.shape, stride, padding, dilation, groups, transposed)
    inside, pixel = list(WINDOW[: way.n]), list(INPUT[: way.n])
    kernel, gradient = tensor_by_name(weight, "weight"), incoming_gradient(g)
    if way.transposed:
        came = (*letters("no"), *map(way.seen, range(way.n)))
        factors = (kernel, letters("co", inside)), (gradient, came)
        return sum_of_products(factors, ["n", "c", *POSITIONS[: way.n]], ["o", *inside], way.sizes)
    weights = letters("oc", inside)
    sizes, output = way.sizes, plain("o")
    if way.groups > 1:  # o counts the outputs of the group that the channel c of the input belongs to
        many = sizes["o"] // way.groups
        sizes = sizes | {"c": way.inner * way.groups, "o": many}
        output = Index((("o", 1),) * (many > 1), group=("c", way.inner, many))
        own = Index((("c", 1),), group=("c", way.inner, -way.inner)) if way.inner > 1 else Index(())
        weights = (output, own, *map(plain, inside))
    came = (plain("n"), output, *map(way.seen_from, range(way.n)))
    return sum_of_products([(kernel, weights), (gradient, came)], ["n", "c", *pixel], ["o", *inside], sizes)


# ─── Pooling


def max_pool_input(g: Any, self_sym_sizes: Any, result1: Any) -> Any:
    """The largest number of each window."""
    n, pixels = 2, math.prod(self_sym_sizes[-2:])

    def scatter(came: Any, winners: Any) -> Any:
        found = np.zeros((math.prod(self_sym_sizes[:-n]), pixels), came.dtype)
        rows = np.repeat(np.arange(len(found)), winners[0].size if winners.ndim <= n else winners[0, 0].size)
        np.add.at(found, (rows, winners.reshape(-1).astype(int)), came.reshape(-1))
        return found.reshape(self_sym_sizes)

    if result1.shape != g.shape or len(g.shape) != n + 2:
        raise Unwritable("no batch of images")
    pixel, place = ", ".join(INPUT[:n]), ", ".join(POSITIONS[:n])
    wins = indicator(f"({pixel}) = argmax window({place})", None, ())
    return total(
        wins * at_index(incoming_gradient(g), place),
        POSITIONS[:n],
        pixel,
        compute_value(scatter, g, result1),
        self_sym_sizes,
    )


def average_pool_input(
    g: Any, self_sym_sizes: Any, kernel_size: Any, stride: Any, padding: Any, ceil_mode: Any,
    divisor_override: Any,
) -> Any:  # fmt: skip
    """Every number of a window gets an equal share."""
    steps = tuple(stride) or tuple(kernel_size)
    if any(padding) or ceil_mode or divisor_override or steps != tuple(kernel_size):
        raise Unwritable("windows that overlap or hang over")
    return equal_shares(g, self_sym_sizes, *kernel_size)


def adaptive_pool_input(g: Any, self_sym_sizes: Any) -> Any:
    """The same where the windows are found from the sizes."""
    sizes = list(zip(self_sym_sizes[-2:], g.shape[-2:], strict=True))
    if any(whole % part for whole, part in sizes):
        raise Unwritable("windows of several sizes")
    return equal_shares(g, self_sym_sizes, *(whole // part for whole, part in sizes))


def equal_shares(g: Symbol, self_sym_sizes: Sequence[int], high: int, wide: int) -> Symbol:
    """For windows beside each other: the gradient of its window, divided by how many it has."""
    if len(g.shape) != 4:
        raise Unwritable("no batch of images")
    rows, columns = (each * n for each, n in zip(g.shape[-2:], (high, wide), strict=True))
    room = [(0, 0), (0, 0), (0, self_sym_sizes[-2] - rows), (0, self_sym_sizes[-1] - columns)]

    def spread(came: Any) -> Any:
        return np.pad(came.repeat(high, -2).repeat(wide, -1) / (high * wide), room)

    pixel = ", ".join(INPUT[:2])
    place = f"⌊a/{high}⌋, ⌊b/{wide}⌋"
    share = at_index(incoming_gradient(g), place) / (high * wide)
    return total(share, "", pixel, compute_value(spread, g), self_sym_sizes)


# ─── Embedding


def embedding_weight(
    g: Any, indices: Any, padding_idx: Any, scale_grad_by_freq: Any, weight_sym_sizes: Any
) -> Any:
    """A row: the gradients of all positions that looked it up."""
    if not indices.shape or scale_grad_by_freq or 0 <= padding_idx < weight_sym_sizes[0]:
        raise Unwritable("one row, or rows that are scaled or left out")
    letters = ", ".join(WINDOW[: len(indices.shape)]) if len(indices.shape) <= len(WINDOW) else ""
    if not letters or len(weight_sym_sizes) != 2:
        raise Unwritable("indices of more than three dimensions")

    def add_up(came: Any, rows: Any) -> Any:
        found = np.zeros(weight_sym_sizes, came.dtype)
        np.add.at(found, rows.reshape(-1).astype(int), came.reshape(-1, weight_sym_sizes[1]))
        return found

    def of(index: tuple[int, ...]) -> list[tuple[float, ...]]:
        row, column = index
        found = g.value[indices.value == row][:, column].tolist()
        return [(each,) for each in sorted(found, key=abs, reverse=True) if each]

    chosen = indicator(f"{tensor_by_name(indices, 'indices').text}[{letters}] = v", None, ())
    value = compute_value(add_up, g, indices)
    terms = None if value is None else Terms(of)
    body = chosen * at_index(incoming_gradient(g), letters)
    return total(body, WINDOW[: len(indices.shape)], "v", value, weight_sym_sizes, terms)


# ─── Normalization


def center(g: Symbol, hat: Symbol, dims: tuple[int, ...]) -> Symbol:
    """A gradient without its mean, and without its part along the normalized input."""
    return g - mean(g, dims) - hat * mean(g * hat, dims)


def normalize(input: Symbol, middle: Symbol, scale: Symbol, shape: Sequence[int]) -> tuple[Symbol, Symbol]:
    """`x̂` and `σ`, of the mean and 1 ÷ σ as they were saved, in `shape`."""
    sigma = compute_value(lambda s: (ONE / s).reshape(shape), scale)
    hat = compute_value(lambda x, m, s: (x - m.reshape(shape)) * s.reshape(shape), input, middle, scale)
    return letter("x̂", hat, input.shape), letter("σ", sigma, shape)


def scale_by_weight(g: Symbol, weight: Symbol | None, shape: Sequence[int]) -> Symbol:
    """`γ ⊙ g`, where there is a weight."""
    if weight is None:
        return g
    return letter("γ", compute_value(lambda w: w.reshape(shape), weight), shape) * g


def layer_norm_dims(shape: Sequence[int], normalized_shape: Sequence[int]) -> tuple[int, ...]:
    """The dimensions that a layer norm normalizes together."""
    return tuple(range(len(shape) - len(normalized_shape), len(shape)))


def layer_norm_input(
    g: Any, input: Any, result1: Any, result2: Any, weight: Any, normalized_shape: Any
) -> Any:
    """What a layer norm normalizes."""
    dims = layer_norm_dims(input.shape, normalized_shape)
    hat, sigma = normalize(input, result1, result2, reduced_shape(input.shape, dims))
    return center(scale_by_weight(incoming_gradient(g), weight, normalized_shape), hat, dims) / sigma


def layer_norm_sum(factors: Sequence[Symbol], normalized_shape: Sequence[int]) -> Symbol:
    """For each number of the parameter the sum over all rows."""
    shape, n = factors[0].shape, len(normalized_shape)
    if len(shape) - n > len(ROWS) or n > len(WINDOW):
        raise Unwritable("more dimensions than letters")
    rows, own = list(ROWS[: len(shape) - n]), list(WINDOW[:n])
    sizes = dict(zip([*rows, *own], shape, strict=True))
    indices = tuple(map(plain, [*rows, *own]))
    return sum_of_products([(each, indices) for each in factors], own, rows, sizes)


def layer_norm_weight(g: Any, input: Any, result1: Any, result2: Any, normalized_shape: Any) -> Any:
    """Its weight: over all rows."""
    dims = layer_norm_dims(input.shape, normalized_shape)
    hat, _ = normalize(input, result1, result2, reduced_shape(input.shape, dims))
    return layer_norm_sum((hat, incoming_gradient(g)), normalized_shape)


def layer_norm_bias(g: Any, normalized_shape: Any) -> Any:
    """Its bias: over all rows."""
    return layer_norm_sum((incoming_gradient(g),), normalized_shape)


def by_groups(x: Any, group: int) -> Any:
    """An array with the channels of a group in a row: sample, group, and all numbers of it."""
    return x.reshape(x.shape[0], group, -1)


def group_mean(x: Symbol, group: int) -> Symbol:
    """`mean(x)` over all numbers of a group of channels, at the place of each of them."""
    value = compute_value(
        lambda a: np.broadcast_to(by_groups(a, group).mean(-1, keepdims=True), by_groups(a, group).shape)
        .reshape(a.shape), x,
    )  # fmt: skip
    return Symbol(CALL, (x,), value, x.shape, "mean")


def group_norm_parts(input: Symbol, result1: Symbol, result2: Symbol, group: int) -> tuple[Symbol, Symbol]:
    """`x̂` and `σ` of a group norm, in the shape of the input."""

    def in_place(a: Any, x: Any) -> Any:
        return np.broadcast_to(a.reshape(x.shape[0], group, 1), by_groups(x, group).shape).reshape(x.shape)

    hat = compute_value(lambda x, m, s: (x - in_place(m, x)) * in_place(s, x), input, result1, result2)
    sigma = compute_value(lambda x, s: ONE / in_place(s, x), input, result2)
    return letter("x̂", hat, input.shape), letter("σ", sigma, input.shape)


def group_norm_input(g: Any, input: Any, result1: Any, result2: Any, weight: Any, group: Any) -> Any:
    """What a group norm normalizes."""
    hat, sigma = group_norm_parts(input, result1, result2, group)
    scaled = scale_by_weight(incoming_gradient(g), weight, channels(input.shape)[1])
    return (scaled - group_mean(scaled, group) - hat * group_mean(scaled * hat, group)) / sigma


def group_norm_weight(g: Any, input: Any, result1: Any, result2: Any, group: Any) -> Any:
    """Its weight: over the batch and all positions of a channel."""
    hat, _ = group_norm_parts(input, result1, result2, group)
    return channel_sum((hat, incoming_gradient(g)), "c")


def channels(shape: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """All dimensions but that of the channels, and a shape with these alone."""
    dims = tuple(d for d in range(len(shape)) if d != 1)
    return dims, reduced_shape(shape, dims)


def batch_norm_parts(
    input: Symbol, result1: Symbol, result2: Symbol, running_mean: Any, running_var: Any, training: Any,
    eps: Any,
) -> tuple[Symbol, Symbol]:  # fmt: skip
    """`x̂` and `σ` of a batch in training, else of the running statistics."""
    _, shape = channels(input.shape)
    if training:
        return normalize(input, result1, result2, shape)
    if running_mean is None or running_var is None:
        raise Unwritable("no running statistics")
    rstd = letter("", compute_value(lambda v: ONE / np.sqrt(v + eps), running_var), running_var.shape)
    return normalize(input, running_mean, rstd, shape)


def batch_norm_input(
    g: Any, input: Any, result1: Any, result2: Any, weight: Any, running_mean: Any, running_var: Any,
    training: Any, eps: Any,
) -> Any:  # fmt: skip
    """What a batch norm normalizes."""
    dims, shape = channels(input.shape)
    hat, sigma = batch_norm_parts(input, result1, result2, running_mean, running_var, training, eps)
    factor = ONE / sigma
    if weight is not None:
        factor = letter("γ", compute_value(lambda w: w.reshape(shape), weight), shape) / sigma
    return factor * (center(incoming_gradient(g), hat, dims) if training else incoming_gradient(g))


def batch_norm_weight(
    g: Any, input: Any, result1: Any, result2: Any, running_mean: Any, running_var: Any, training: Any,
    eps: Any,
) -> Any:  # fmt: skip
    """Its weight: over the batch and all positions of a channel."""
    hat, _ = batch_norm_parts(input, result1, result2, running_mean, running_var, training, eps)
    return channel_sum((hat, incoming_gradient(g)), "c")


def convolution_bias(g: Any) -> Any:
    """The bias of a channel is added at all positions of all samples."""
    return channel_sum((incoming_gradient(g),), "o")


def channel_sum(factors: Sequence[Symbol], channel: str) -> Symbol:
    """For each channel the sum over the batch and all positions."""
    n = len(factors[0].shape) - 2
    if n > len(POSITIONS):
        raise Unwritable("more dimensions than letters")
    places = list(POSITIONS[:n])
    sizes = dict(zip(["n", channel, *places], factors[0].shape, strict=True))
    indices = tuple(map(plain, ["n", channel, *places]))
    return sum_of_products([(each, indices) for each in factors], [channel], ["n", *places], sizes)


def batch_norm_bias(g: Any) -> Any:
    """Its bias: over the batch and all positions of a channel."""
    return channel_sum((incoming_gradient(g),), "c")


# ─── Largest, norm


def chosen_input(g: Any, indices: Any, dim: Any, self_sym_sizes: Any) -> Any:
    """The element that `max` or `min` found along a dimension."""
    shape = tuple(self_sym_sizes)
    if not 0 < len(shape) <= len(WINDOW):
        raise Unwritable("one number, or more dimensions than letters")
    dim = counted_dim(dim, len(shape))
    kept = reduced_shape(shape, (dim,))
    along = tuple(n if d == dim else 1 for d, n in enumerate(shape))

    def scatter(came: Any, found: Any) -> Any:
        return np.where(np.arange(shape[dim]).reshape(along) == found.reshape(kept), came.reshape(kept), 0)

    left, own = WINDOW[: len(shape)], WINDOW[dim]
    others = ", ".join(each for each in left if each != own)
    name = tensor_by_name(indices, "indices").text + (f"[{others}]" if others else "")
    came = at_index(incoming_gradient(g), others) if others else incoming_gradient(g)
    chosen = indicator(f"{own} = {name}", None, ())
    return total(came * chosen, "", ", ".join(left), compute_value(scatter, g, indices), shape)


def counted_dim(dim: int, n: int) -> int:
    """A dimension counted from the front; PyTorch notes -1 as the largest unsigned integer."""
    return (dim - 2**64 if dim >= 2**63 else dim) % n


def norm_input(g: Any, self: Any, result: Any, ord: Any, dim: Any, keepdim: Any) -> Any:
    """∂‖x‖/∂x = x ÷ ‖x‖; of the sum of magnitudes the sign."""
    if ord not in (1, 2):
        raise Unwritable("another norm")
    n = len(self.shape)
    dims = tuple(range(n)) if not dim else tuple(counted_dim(d, n) for d in dim)
    kept = reduced_shape(self.shape, dims) if result.shape else ()

    def back(s: Symbol) -> Symbol:
        return Symbol(s.head, s.args, compute_value(lambda a: np.reshape(a, kept), s), kept, s.text)

    if ord == 1:
        return back(incoming_gradient(g)) * F.sign(self)
    return back(incoming_gradient(g)) * (self / back(tensor_by_name(result, "‖x‖")))


# ─── Attention


def attention(
    query: Symbol, key: Symbol, is_causal: Any, attn_mask: Any, dropout_p: Any, scale: Any
) -> tuple[Symbol, float]:
    """The weights of attention, `A`, and what the products of queries and keys are multiplied by."""
    if attn_mask is not None or dropout_p:
        raise Unwritable("a mask of one's own, or dropout")
    factor = scale if scale is not None else ONE / math.sqrt(query.shape[-1])

    def weights(q: Any, k: Any) -> Any:
        scores = q @ np.swapaxes(k, -1, -2) * factor
        if is_causal:
            scores = np.where(np.tri(*scores.shape[-2:]) > 0, scores, -np.inf)
        raised = np.exp(scores - scores.max(-1, keepdims=True))
        return raised / raised.sum(-1, keepdims=True)

    return letter("A", compute_value(weights, query, key), (*query.shape[:-1], key.shape[-2])), factor


def transpose_last(x: Symbol) -> Symbol:
    """`Aᵀ`, of the last two dimensions."""
    value = compute_value(lambda a: np.swapaxes(a, -1, -2), x)
    return Symbol(TRANSPOSE, (x,), value, (*x.shape[:-2], x.shape[-1], x.shape[-2]))


def times(a: Symbol, b: Symbol) -> Symbol:
    """`A B`, of the last two dimensions."""
    return Symbol(MATMUL, (a, b), compute_value(np.matmul, a, b), (*a.shape[:-1], b.shape[-1]))


def scores_gradient(g: Symbol, value: Symbol, weights: Symbol) -> Symbol:
    """`A ⊙ (g Vᵀ − sum(A ⊙ g Vᵀ))`: what comes back through the softmax."""
    back = times(incoming_gradient(g), transpose_last(tensor_by_name(value, "value")))
    return weights * (back - row_sum(weights * back))


def root_of(query: Symbol, scale: Any) -> Symbol:
    """`√d`."""
    if scale is not None:
        raise Unwritable("a scale of one's own")
    return letter(f"√{query.shape[-1]}", np.asarray(math.sqrt(query.shape[-1])), ())


def attention_query(
    g: Any, query: Any, key: Any, value: Any, is_causal: Any, attn_mask: Any, dropout_p: Any, scale: Any
) -> Any:
    """The queries."""
    weights, _ = attention(query, key, is_causal, attn_mask, dropout_p, scale)
    return times(scores_gradient(g, value, weights), tensor_by_name(key, "key")) / root_of(query, scale)


def attention_key(
    g: Any, query: Any, key: Any, value: Any, is_causal: Any, attn_mask: Any, dropout_p: Any, scale: Any
) -> Any:
    """The keys."""
    weights, _ = attention(query, key, is_causal, attn_mask, dropout_p, scale)
    back = transpose_last(scores_gradient(g, value, weights))
    return times(back, tensor_by_name(query, "query")) / root_of(query, scale)


def attention_value(
    g: Any, query: Any, key: Any, is_causal: Any, attn_mask: Any, dropout_p: Any, scale: Any
) -> Any:
    """The values."""
    weights, _ = attention(query, key, is_causal, attn_mask, dropout_p, scale)
    return times(transpose_last(weights), incoming_gradient(g))


# ─── All of them


Vjps = dict[str, Callable[..., Any]]


class Textbook(NamedTuple):
    """The formulas of an op: the vjp of each input in the order of the edges, which of its arguments may be
    missing, and the key of the sentence that says what its letters stand for ("" without one)."""

    vjps: Vjps
    free: Collection[str] = ()
    where: str = ""


CONVOLUTION: Vjps = {"input": convolution_input, "weight": convolution_weight, "bias": convolution_bias}
BATCH_NORM: Vjps = {"input": batch_norm_input, "weight": batch_norm_weight, "bias": batch_norm_bias}
GROUP_NORM: Vjps = {"input": group_norm_input, "weight": group_norm_weight, "bias": batch_norm_bias}
LAYER_NORM: Vjps = {"input": layer_norm_input, "weight": layer_norm_weight, "bias": layer_norm_bias}
ATTENTION: Vjps = {"query": attention_query, "key": attention_key, "value": attention_value}
MASKS = ("attn_mask", "scale")
STATISTICS = ("weight", "running_mean", "running_var", "result1", "result2")

TEXTBOOK: dict[str, Textbook] = {
    "ConvolutionBackward0": Textbook(CONVOLUTION, (), "where_convolution"),
    "MaxPool2DWithIndicesBackward0": Textbook({"self": max_pool_input}, (), "where_pool"),
    "AvgPool2DBackward0": Textbook({"self": average_pool_input}, ("divisor_override",), "where_pool"),
    "AdaptiveAvgPool2DBackward0": Textbook({"self": adaptive_pool_input}, (), "where_pool"),
    "EmbeddingBackward0": Textbook({"weight": embedding_weight}, (), "where_embedding"),
    "NativeLayerNormBackward0": Textbook(LAYER_NORM, ("weight",), "where_layer_norm"),
    "NativeGroupNormBackward0": Textbook(GROUP_NORM, ("weight",), "where_layer_norm"),
    "NativeBatchNormBackward0": Textbook(BATCH_NORM, STATISTICS, "where_batch_norm"),
    "MaxBackward0": Textbook({"self": chosen_input}, (), "where_max"),
    "MinBackward0": Textbook({"self": chosen_input}, (), "where_max"),
    "LinalgVectorNormBackward0": Textbook({"self": norm_input}, ("dim",)),
    "ScaledDotProductFlashAttentionForCpuBackward0": Textbook(ATTENTION, MASKS, "where_attention"),
}
SAME_NODES = {
    "MaxPool2dWithIndicesBackward0": "MaxPool2DWithIndicesBackward0",
    "AvgPool2dBackward0": "AvgPool2DBackward0",
    "AdaptiveAvgPool2dBackward0": "AdaptiveAvgPool2DBackward0",
    "ScaledDotProductFlashAttentionForCPUBackward0": "ScaledDotProductFlashAttentionForCpuBackward0",
}  # as other versions of PyTorch call them
TEXTBOOK |= {other: TEXTBOOK[name] for other, name in SAME_NODES.items()}


def where_key(node: str) -> str:
    """The key of the sentence for the letters in the formulas of a node; "" without one."""
    found = TEXTBOOK.get(node) or TEXTBOOK.get(f"{node}0")
    return "" if found is None else found.where


def largest_element(value: Any) -> tuple[int, ...]:
    """The index of the number with the largest magnitude."""
    return tuple(int(i) for i in np.unravel_index(np.argmax(np.abs(np.nan_to_num(value))), np.shape(value)))
