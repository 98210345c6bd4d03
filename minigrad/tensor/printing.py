"""How a tensor prints: PyTorch's rules, applied to NumPy data.

Three steps. *Pick* the elements that will be shown (all of them, or the corners of a large tensor), *write*
each as text and find their common column width, *lay out* the texts in nested brackets. The suffixes
(``dtype=``, ``grad_fn=`` ...) follow. Nothing is ever formatted that is not shown.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

from ..core import dtypes
from ..core.public import public
from ..core.tangents import tangent_of
from ..core.tensor_state import TensorBase, numbers


class PrintOptions(NamedTuple):
    """One setting of the print options.

    precision: digits after the point. threshold: a tensor with more elements than this is summarized.
    edgeitems: elements shown at each end of a summarized dimension. linewidth: columns per line.
    sci_mode: scientific notation always (True), never (False) or when the numbers call for it (None).
    """

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: float = 80
    sci_mode: bool | None = None


PROFILES = {
    "default": PrintOptions(),
    "short": PrintOptions(precision=2, edgeitems=2),
    "full": PrintOptions(threshold=math.inf),
}
_options = PrintOptions()


@public("function")
def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: float | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors are printed.

    Args:
        precision: digits after the point.
        threshold: how many elements are printed before the middle is left out.
        edgeitems: how many remain at each end then.
        linewidth: characters per line.
        profile: "default", "short" or "full", which sets all of these.
        sci_mode: whether to use scientific notation; None to decide by the numbers.
    Shape: none.
    Returns: None.
    Raises: nothing.
    Source: torch.set_printoptions

    >>> torch.set_printoptions(profile='default')
    """
    global _options
    if profile is not None and profile not in PROFILES:
        raise ValueError(f"profile must be one of {', '.join(map(repr, PROFILES))}, but got {profile!r}")
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    changes: Any = {name: value for name, value in given.items() if value is not None}
    before = _options if profile is None else PROFILES[profile]
    _options = before._replace(**changes, sci_mode=sci_mode)


def get_printoptions() -> dict[str, Any]:
    """Return the present options, as keyword arguments for `set_printoptions`."""
    return _options._asdict()


@public("function")
@contextmanager
def printoptions(**options: Any) -> Iterator[None]:
    """Change the print options for a ``with`` block; arguments as in `set_printoptions`."""
    before = get_printoptions()
    set_printoptions(**options)
    try:
        yield
    finally:
        set_printoptions(**before)


def describe(t: TensorBase) -> str:
    """Return the text of a tensor as PyTorch prints it."""
    try:
        fn = t.grad_fn
        name = None if fn is None else fn.name().rpartition("::")[2]
    except RuntimeError:
        name = "Invalid"  # a view whose base was written to while the view must not follow
    tangent, kind = tangent_of(t), type(t).__name__
    return format_tensor(
        numbers(t),
        dtypes.get_default_dtype().numpy,
        requires_grad=t.requires_grad,
        grad_fn=name,
        tangent=None if tangent is None else f"{tangent}",
        prefix="tensor(" if kind in ("Tensor", "Parameter") else f"{kind}(",
    )


def format_tensor(
    data: np.ndarray | np.generic,
    default_float: np.dtype,
    requires_grad: bool = False,
    grad_fn: str | None = None,
    tangent: str | None = None,
    prefix: str = "tensor(",
) -> str:
    """Return the text of a tensor of any shape, such as ``tensor([1., 2.], requires_grad=True)``.

    data: the elements; bool, integer, float16/32/64 or complex64/128.
    default_float: the dtype that needs no mention.
    grad_fn: the name of the tensor's backward node, if it has one; it replaces ``requires_grad=True``.
    tangent: its forward-mode tangent as ``f'{tangent}'``, if it has one.
    prefix: what comes first; further lines start below its end.
    """
    column = len(prefix)
    text = prefix + (_body(data, column, _options) if data.size else "[]")
    suffixes = []
    if data.ndim != 1 if data.size == 0 else _options.edgeitems == 0:
        suffixes.append(f"size={tuple(data.shape)}")
    if not _dtype_is_obvious(data, default_float):
        suffixes.append(f"dtype=torch.{data.dtype.name}")
    if grad_fn is not None:
        suffixes.append(f"grad_fn=<{grad_fn}>")
    elif requires_grad:
        suffixes.append("requires_grad=True")
    if tangent is not None:
        suffixes.append(f"tangent={tangent}")
    return _with_suffixes(text, suffixes, column, _options.linewidth)


def _dtype_is_obvious(data: np.ndarray | np.generic, default_float: np.dtype) -> bool:
    """Return whether a reader of the elements knows the dtype; an empty tensor has none that would tell."""
    dtype = data.dtype
    if dtype == default_float:
        return True
    default_complex = np.complex128 if default_float == np.float64 else np.complex64
    return data.size > 0 and (dtype == np.int64 or dtype == np.bool_ or dtype == default_complex)


def _with_suffixes(text: str, suffixes: list[str], column: int, linewidth: float) -> str:
    """Append the suffixes and the closing bracket; one that would pass ``linewidth`` starts a line.

    Lines break where PyTorch's do. So ``minigrad.`` counts as long as ``torch.``, which it stands for, and
    up to the first suffix on its own line there are two columns more than a reader counts.
    """
    used = len(text.rpartition("\n")[2]) + 2
    for suffix in suffixes:
        length = len(suffix)
        if used + 2 + length > linewidth:
            text += ",\n" + " " * column + suffix
            used = column + length
        else:
            text += ", " + suffix
            used += 2 + length
    return text + ")"


def _body(data: np.ndarray | np.generic, column: int, options: PrintOptions) -> str:
    """Return the elements (at least one) in their brackets, the first of which is at ``column``."""
    edge, shape = options.edgeitems, data.shape
    gaps = (False,) * data.ndim
    if data.size > options.threshold and data.ndim > 0:
        if edge == 0:
            return "[...]"
        gaps = tuple(n > 2 * edge for n in shape)
        # Without dimensions of size 1: NumPy takes fewer index arrays than an array may have dimensions.
        kept = (_both_ends(n, edge) if n > 2 * edge else range(n) for n in shape if n > 1)
        data = np.squeeze(data)[np.ix_(*kept)]
        shape = tuple(min(n, 2 * edge) for n in shape)
    cells, width = _cells(data.reshape(-1).tolist(), options)
    return _layout(cells, width, shape, gaps, column, options.linewidth)


def _both_ends(n: int, edge: int) -> list[int]:
    return [*range(edge), *range(n - edge, n)]


def _layout(
    cells: list[str],
    width: int,
    shape: tuple[int, ...],
    gaps: tuple[bool, ...],
    column: int,
    linewidth: float,
) -> str:
    """Nested brackets around ``cells``, ``shape`` of them in C order; ``gaps``: which dimensions were cut."""
    if not shape:
        return cells[0]
    middle = shape[0] // 2
    if len(shape) == 1:
        row = [*cells[:middle], " ...", *cells[middle:]] if gaps[0] else cells
        per_line = int(max(1, min(len(row), (linewidth - column) / (width + 2))))
        parts = [", ".join(row[i : i + per_line]) for i in range(0, len(row), per_line)]
    else:
        step = len(cells) // shape[0]
        parts = [
            _layout(cells[i : i + step], width, shape[1:], gaps[1:], column + 1, linewidth)
            for i in range(0, len(cells), step)
        ]
        if gaps[0]:
            parts.insert(middle, "...")
    newlines = "\n" * max(1, len(shape) - 1)  # a blank line between matrices, two between stacks
    return "[" + ("," + newlines + " " * (column + 1)).join(parts) + "]"


def _cells(values: list[Any], options: PrintOptions) -> tuple[list[str], int]:
    """Every element as text, aligned, and the width that line breaking counts with."""
    if isinstance(values[0], complex):
        reals, real_width = _number_texts([value.real for value in values], options)
        imags, imag_width = _number_texts([value.imag for value in values], options)
        # Only the real parts are aligned, and the width leaves out the sign between the two parts.
        signed = (imag if imag.startswith("-") else f"+{imag}" for imag in imags)
        cells = [f"{real:>{real_width}}{imag}j" for real, imag in zip(reals, signed, strict=True)]
        return cells, real_width + imag_width + 1
    if isinstance(values[0], float):
        texts, width = _number_texts(values, options)
    else:
        texts = [str(value) for value in values]
        width = max(map(len, texts))
    return [text.rjust(width) for text in texts], width


def _number_texts(values: list[float], options: PrintOptions) -> tuple[list[str], int]:
    """Every number in the notation that suits all, and the width of the widest that is finite and not 0."""
    telling = [value != 0 and math.isfinite(value) for value in values]
    sizes = [abs(value) for value in compress(values, telling)]
    whole = all(size.is_integer() for size in sizes)
    if _scientific(sizes, options):
        texts = [f"{value:.{options.precision}e}" for value in values]
    elif whole:
        texts = [f"{value:.0f}." if math.isfinite(value) else f"{value:.0f}" for value in values]
    else:
        texts = [f"{value:.{options.precision}f}" for value in values]
    return texts, max(map(len, compress(texts, telling)), default=1)


def _scientific(sizes: list[float], options: PrintOptions) -> bool:
    """Return whether numbers of these magnitudes (finite, not 0) are written with an exponent."""
    if not sizes:
        return False
    if options.sci_mode is not None:
        return options.sci_mode
    low, high = min(sizes), max(sizes)
    return high / low > 1e3 or high > 1e8 or low < 1e-4
