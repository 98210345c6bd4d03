"""Short text for numbers and arrays, in PyTorch's manner: `5.` `4.8283` `0.008` `[4. 7. 9.]`.

A longer array is described by its rms and its signs, `float32 (100, 20) rms 0.752, ±`.
A range says little, because one outlier decides it; `value_range` has it for those who ask.

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
FIRST = 4  # integers of a longer array that are written
RMS = 3  # digits of a root mean square
COLUMNS = 30  # width of one line of numbers, where the caller does not say


def number(x: Any, dtype: str = "float32", digits: int = DIGITS) -> str:
    """One number as text: int and bool as they are, floats to `digits` digits, complex as `1.+2.j`."""
    if isinstance(x, complex):
        imaginary = number(x.imag, dtype, digits)
        return f"{number(x.real, dtype, digits)}{'' if imaginary.startswith('-') else '+'}{imaginary}j"
    if not isinstance(x, float):
        return str(x)
    x += 0.0  # libraries differ in the sign of a zero, which says nothing
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
    which breaks before the root mean square.
    """
    full = _full(value, width)
    if full:
        return full
    line = summary(value)
    parts = (line,) if len(line) <= width else (_kind(value), measure(value))
    return tuple(part if len(part) <= width else str(value.shape) for part in parts if part)


def is_in_formulas(shape: Sequence[int]) -> bool:
    """Whether the numbers of an array are written out in formulas: up to 6 in a row, or 3×3."""
    longest = max(shape, default=1)
    return 0 < math.prod(shape) <= MATRIX**2 and longest <= (VECTOR if len(shape) == 1 else MATRIX)


def written_out(value: Value, width: int = COLUMNS) -> bool:
    """Whether `rows` writes all numbers of `value`."""
    return bool(_full(value, width))


def shape_text(value: Value) -> str:
    """The sizes of a value as an arrow shows them: `3×2`, and `()` of a single number."""
    return "×".join(map(str, value.shape)) or "()"


def one_line(value: Value, width: int = COLUMNS) -> str:
    """`value` in one line: in full if that fits `width` columns, else as much of its summary as fits."""
    line = numbers_line(value, width)
    if line:
        return line
    kind, told, sizes = _kind(value), measure(value), str(value.shape)
    rms = told.partition(",")[0]
    tried = (f"{kind} {told}", f"{sizes} {told}", f"{sizes} {rms}") if told else ()
    return next((line for line in (*tried, kind) if len(line) <= width), sizes)


def numbers_line(value: Value, width: int = COLUMNS) -> str:
    """All numbers of `value` in one line; "" if they are unknown, too many or too wide."""
    line = " ".join(row.strip() for row in _full(value, width, aligned=False))
    return line if len(line) <= width else ""


def value_in_sentence(value: Value) -> str:
    """`value` in a sentence about what flows: in full if it is short, else its sizes, as `3×2`."""
    return one_line(value) if len(value.shape) < 2 or _full(value, COLUMNS, False) else shape_text(value)


def pill(value: Value, width: int = 16) -> tuple[str, ...]:
    """`value` as the lines of a pill on an arrow: in full if narrow, else shape and root mean square."""
    full = _full(value, width)
    return full or tuple(filter(None, (str(value.shape), measure(value).partition(",")[0])))


def summary(value: Value) -> str:
    """dtype, shape and a short description of the numbers: `float32 (100, 20) rms 0.752, ±`."""
    return " ".join(filter(None, (_kind(value), measure(value))))


def measure(value: Value) -> str:
    """What tells most of an array in a few words: its root mean square and its signs, as `rms 0.752, ±`; the
    first of integers; `≡ 0.5` where all numbers are the same. "" if nothing is known."""
    if value.items and isinstance(value.items[0], int):
        more = [" …"] * (len(value.items) > FIRST)
        return f"[{' '.join(map(str, value.items[:FIRST]))}{''.join(more)}]"
    rms, low, high = value.rms, value.low, value.high
    if low is None or high is None:
        return value.special
    if low == high and not value.special:
        return f"≡ {_end(low, value.dtype)}"
    if value.dtype == "bool":
        return ""
    if rms is None:
        return value_range(value)
    told = [f"rms {number(rms, value.dtype, RMS)}", _signs(low, high), value.special]
    return ", ".join(filter(None, told))


def _signs(low: float, high: float) -> str:
    """Between which signs numbers are: `±` where there are both."""
    if low < 0 < high:
        return "±"
    return f"{'>' if low > 0 else '≥'} 0" if high > 0 else f"{'<' if high < 0 else '≤'} 0"


def gradient_text(total: Value, shares: Sequence[Value], width: int = 26, lang: str | None = None) -> str:
    """A gradient in one line; as a sum (`1.6 = 0.6 + 1.`) where several met and do add up to it."""
    whole = one_line(total, width)
    if len(shares) < 2 or not add_up(shares, total):
        return whole
    terms = [one_line(share, width) for share in shares[:SHARES]]
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


def value_range(value: Value) -> str:
    """The least and the largest of the finite numbers, `-1.2…3.4`; "" where they are not known."""
    if value.low is None or value.high is None:
        return ""
    about = "≈ " if value.skimmed else ""
    return f"{about}{_end(value.low, value.dtype)}…{_end(value.high, value.dtype)}"


def _end(x: float, dtype: str) -> str:
    """The least or largest number of an array."""
    if dtype.startswith(("int", "uint", "bool")):
        return str(bool(x) if dtype == "bool" else int(x))
    return number(float(x), dtype)
