"""Short text for numbers and arrays, in PyTorch's manner: `5.` `4.8283` `0.008` `[4. 7. 9.]`.

A number has five significant digits, and never more than its dtype holds, so a float32 does not show the
rounding noise of its float64 form. The text depends on the numbers alone, and is the same in the picture, the
outline, the table and the player, because they all use these functions.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Any

from .protocol import Value
from .snapshots import add_up
from .words import columns, text

DIGITS = 5
# Between these magnitudes a number is written out; outside, with an exponent.
TINY, HUGE = 1e-5, 1e8
# Arrays shown in full: vectors up to 6 numbers, matrices up to 3×3, if they fit the width.
VECTOR, MATRIX = 6, 3
SHARES = 8  # numbers of a sum that are written out
COLUMNS = 30  # width of one line of numbers, where the caller does not say


def number(x: Any, dtype: str = "float32", digits: int = DIGITS) -> str:
    """One number as text: int and bool as they are, floats to `digits` digits, complex as `1.+2.j`."""
    if isinstance(x, complex):
        imaginary = number(x.imag, dtype, digits)
        return f"{number(x.real, dtype, digits)}{'' if imaginary.startswith('-') else '+'}{imaginary}j"
    if not isinstance(x, float):
        return str(x)
    if not math.isfinite(x):
        return str(x)  # nan, inf, -inf
    size = abs(x)
    if size and not TINY <= size < HUGE:
        mantissa, exponent = f"{x:.{_digits(x, dtype, digits) - 1}e}".split("e")
        return f"{_trim(mantissa)}e{exponent}"
    places = max(0, _digits(x, dtype, digits) - 1 - (math.floor(math.log10(size)) if size else 0))
    return _trim(f"{x:.{places}f}")


def _trim(decimal: str) -> str:
    """`125.00` → `125.`, `0.600` → `0.6`, `0` → `0.`: no empty zeros, one point to tell floats from ints."""
    return decimal.rstrip("0") if "." in decimal else decimal + "."


def _digits(x: float, dtype: str, digits: int) -> int:
    """How many digits to show: at most `digits`, and no more than a half-precision number has."""
    same = {"float16": _half, "complex32": _half, "bfloat16": _brain}.get(dtype)
    if same is None:
        return digits
    return next((n for n in range(1, digits) if same(float(f"{x:.{n}g}")) == same(x)), digits)


def _half(x: float) -> bytes:
    """`x` rounded to float16."""
    try:
        return struct.pack("e", x)
    except OverflowError:  # rounded up beyond the largest float16
        return b""


def _brain(x: float) -> int:
    """`x` rounded to bfloat16: the upper half of its float32, to nearest even."""
    try:
        (bits,) = struct.unpack("I", struct.pack("f", x))
    except OverflowError:
        return -1
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def rows(value: Value, width: int = COLUMNS) -> tuple[str, ...]:
    """`value` as lines: a scalar or vector in one, a matrix a row a line; large arrays as their summary.

    Numbers that do not fit `width` columns are tried with three digits before they give way to the summary,
    which breaks before the range.
    """
    line = summary(value)
    return _full(value, width) or ((line,) if len(line) <= width else (_kind(value), _range(value)))


def written_out(value: Value, width: int = COLUMNS) -> bool:
    """Whether `rows` writes all numbers of `value`."""
    return bool(_full(value, width))


def shape_text(value: Value) -> str:
    """The sizes of a value as they stand at an arrow: `3×2`, and `()` of a single number."""
    return "×".join(map(str, value.shape)) or "()"


def short(value: Value, width: int = COLUMNS) -> str:
    """`value` in one line: in full if that fits `width` columns, else its summary, else dtype and shape."""
    full = _full(value, width, aligned=False)
    line = " ".join(row.strip() for row in full)
    if full and len(line) <= width:
        return line
    line = summary(value)
    return line if len(line) <= width else _kind(value)


def brief(value: Value) -> str:
    """`value` in a sentence about what flows: in full if it is short, else its sizes, as `3×2`."""
    said = short(value)
    return shape_text(value) if len(value.shape) > 1 and said.startswith(value.dtype) else said


def pill(value: Value, width: int = 16) -> tuple[str, ...]:
    """`value` as the lines of a pill on an arrow: in full if narrow, else shape and range."""
    full = _full(value, width)
    return full or tuple(filter(None, (str(value.shape), _range(value))))


def summary(value: Value) -> str:
    """dtype, shape and the range of the finite numbers: `float32 (100, 20) -1.2…3.4`."""
    return " ".join(filter(None, (_kind(value), _range(value))))


def gradient_text(total: Value, shares: Sequence[Value], width: int = 26, lang: str | None = None) -> str:
    """A gradient in one line; as a sum (`1.6 = 0.6 + 1.`) where several met and do add up to it."""
    whole = short(total, width)
    if len(shares) < 2 or not add_up(shares, total):
        return whole
    terms = [short(share, width) for share in shares[:SHARES]]
    line = f"{whole} = {' + '.join(f'({t})' if t[-1] == 'j' else t for t in terms)}"
    if len(shares) > SHARES or columns(line) > width:
        line = text("grad_many", lang, total=whole, n=len(shares))
    return line if columns(line) <= width else whole


def _full(value: Value, width: int, aligned: bool = True) -> tuple[str, ...]:
    """All numbers as lines of at most `width` columns; () when they are unknown, too many or too wide."""
    if value.items is None:
        return ()
    if not value.items:
        return ("[]" if value.shape == (0,) else f"[] {value.shape}",)
    *outer, high, wide = (1, 1, *value.shape)
    if math.prod(outer) > 1 or (high > 1 and (high > MATRIX or wide > MATRIX)) or wide > VECTOR:
        return ()
    for digits in (DIGITS, 3):
        lines = _lines(value, digits, aligned)
        if max(map(len, lines)) <= width:
            return lines
    return ()


def _lines(value: Value, digits: int, aligned: bool) -> tuple[str, ...]:
    cells = [number(x, value.dtype, digits) for x in value.items or ()]
    depth = len(value.shape)
    if depth == 0:
        return (cells[0],)
    length = value.shape[-1]
    if aligned:
        widths = [max(map(len, cells[i::length])) for i in range(length)]
        cells = [cell.rjust(widths[i % length]) for i, cell in enumerate(cells)]
    lines = ["[" + " ".join(cells[i : i + length]) + "]" for i in range(0, len(cells), length)]
    outside = depth - 1
    lines = ["[" * outside + lines[0], *(" " * outside + line for line in lines[1:])]
    return (*lines[:-1], lines[-1] + "]" * outside)


def _kind(value: Value) -> str:
    return f"{value.dtype} {value.shape}"


def _range(value: Value) -> str:
    if value.low is None or value.high is None:
        return ""
    if value.dtype.startswith(("int", "uint", "bool")):
        cast = bool if value.dtype == "bool" else int
        return f"{cast(value.low)}…{cast(value.high)}"
    return f"{number(float(value.low), value.dtype)}…{number(float(value.high), value.dtype)}"
