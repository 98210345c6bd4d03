"""`check_gradients`: a gradcheck whose numbers can be seen."""

from __future__ import annotations

import html
import inspect
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..drawing import matrices
from ..explaining.numerical import COARSE, SINGLE, Array, JacobianPair, compared, elements, places, worst_of
from ..protocol import array_of, dtype_name, is_tensor
from ..sources.unseen import unseen
from ..trace.explained import Matrices
from ..words import text

LIBRARIES = ("minigrad", "torch")
SHOWN = 6  # pairs of an output and an input that are shown, those that do not agree first


class GradientCheck:
    """What `check_gradients` found. True where everything agrees; it shows itself.

    `numerical`, `analytical` and `difference` have a list per output with an array per input that requires
    gradients: a row per element of the input, a column per element of the output, as in gradcheck's error. A
    complex output has a column for each real part, then one for each imaginary part.
    """

    def __init__(self, pairs: list[JacobianPair], single: list[str], eps: float, lang: str | None) -> None:
        self.pairs = pairs
        self.single = single
        self.eps = eps
        self.lang = lang

    def __bool__(self) -> bool:
        return self.ok

    @property
    def ok(self) -> bool:
        """Whether every element agrees."""
        return not any(pair.wrong for pair in self.pairs)

    @property
    def numerical(self) -> list[list[Array]]:
        """The Jacobians by central differences."""
        return self._nested([pair.numerical for pair in self.pairs])

    @property
    def analytical(self) -> list[list[Array]]:
        """The Jacobians by backward."""
        return self._nested([pair.analytical for pair in self.pairs])

    @property
    def difference(self) -> list[list[Array]]:
        """The analytical Jacobians less the numerical ones."""
        return self._nested([pair.analytical - pair.numerical for pair in self.pairs])

    def _nested(self, arrays: list[Array]) -> list[list[Array]]:
        outputs = dict.fromkeys(pair.output for pair in self.pairs)
        both = list(zip(self.pairs, arrays, strict=True))
        return [[array for pair, array in both if pair.output == i] for i in outputs]

    def said(self) -> list[str]:
        """Whether all agrees; if not, the worst place of each pair, and what single precision has to do with
        it."""
        if self.ok:
            return [text("check_agrees", self.lang)]
        wrong = [pair for pair in self._shown() if pair.wrong]
        lines = [text("why_jacobian_place", self.lang, **worst_of(pair)) for pair in wrong]
        if self.single and self.eps < COARSE:
            names = ", ".join(self.single)
            lines.append(text("why_single_precision", self.lang, names=names, eps=f"{self.eps:g}"))
            lines.append(text("fix_single_precision", self.lang))
        return lines

    def _shown(self) -> list[JacobianPair]:
        full = [pair for pair in self.pairs if pair.numerical.size]
        return sorted(full, key=lambda pair: not pair.wrong)[:SHOWN]

    def matrices(self) -> tuple[Matrices, ...]:
        """The matrices that are shown."""
        return tuple(map(self._matrices, self._shown()))

    def _matrices(self, pair: JacobianPair) -> Matrices:
        name = pair.rows[0].partition("[")[0] if pair.rows else ""
        title = text("check_title", self.lang, row=name, i=pair.output)
        return compared(title, pair, self.lang)

    def _left_out(self) -> list[str]:
        n = len(self.pairs) - len(self._shown())
        return [text("check_left_out", self.lang, n=n)] if n else []

    def __repr__(self) -> str:
        shown = [matrices.to_text(each, self.lang) for each in self.matrices()]
        return "\n".join([*self.said(), *shown, *self._left_out()])

    def _repr_html_(self) -> str:
        before, after = (
            "".join(
                f'<p style="font:14px/1.5 system-ui,sans-serif">{html.escape(line)}</p>' for line in lines
            )
            for lines in (self.said(), self._left_out())
        )
        return f"{matrices.STYLE}<div>{before}{matrices.to_html(self.matrices(), self.lang)}{after}</div>"


def check_gradients(
    fn: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    lang: str | None = None,
) -> GradientCheck:
    """Compare the gradients of `fn(*inputs)` with central differences (f(x + eps) − f(x − eps)) / (2 eps).

    The numbers are those that `gradcheck` of the same library compares, and every element has to satisfy
    |analytical − numerical| ≤ atol + rtol · |numerical|. Inputs without `requires_grad` are left as they are;
    the others are changed in place meanwhile, one element at a time. ValueError if there are none,
    RuntimeError if elements of one share memory. A cell under `%%autograd` is shown without what
    `fn` does here.
    """
    given = as_tuple(inputs)
    learning = [k for k, t in enumerate(given) if is_tensor(t) and t.requires_grad]
    if not learning:
        raise ValueError("check_gradients needs at least one input tensor with requires_grad=True")
    for k in learning:
        if given[k].numel() and any(
            step == 0 and n > 1 for step, n in zip(given[k].stride(), given[k].shape, strict=True)
        ):
            raise RuntimeError(f"elements of input {k} share memory: give its clone() to check_gradients")
    names = names_of(fn, len(given))
    pairs = unseen(lambda: list(pairs_of(fn, given, {k: names[k] for k in learning}, (eps, atol, rtol))))
    single = [names[k] for k in learning if dtype_name(given[k]) in SINGLE]
    return GradientCheck(pairs, single, eps, lang)


def as_tuple(x: Any) -> tuple[Any, ...]:
    """Inputs or outputs as a tuple."""
    return tuple(x) if isinstance(x, tuple | list) else (x,)


def names_of(fn: Callable[..., Any], n: int) -> list[str]:
    """What to call the inputs: as the function's parameters, if it has one for each; for `MyPow.apply` as
    those of its forward."""
    forward, skipped = forward_of(fn)
    try:
        parameters = list(inspect.signature(forward).parameters.values())[skipped:]
    except (TypeError, ValueError):
        parameters = []
    plain = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return plain[:n] if len(plain) >= n else [f"in{k}" for k in range(n)]


def forward_of(fn: Callable[..., Any]) -> tuple[Callable[..., Any], int]:
    """The function whose parameters tell what `fn` takes, and how many of them are not given to `fn`: of the
    `apply` of a custom Function that is its forward, whose `ctx` only one without setup_context has."""
    cls = getattr(fn, "__self__", None)
    if not isinstance(cls, type) or getattr(fn, "__name__", "") != "apply":
        return fn, 0
    own = [each for each in cls.__mro__ if "setup_context" in vars(each)]
    library = own and own[0].__module__.partition(".")[0] in LIBRARIES
    forward = getattr(cls, "forward", None)
    return (fn, 0) if forward is None or not own else (forward, 1 if library else 0)


def pairs_of(
    fn: Callable[..., Any], given: tuple[Any, ...], names: dict[int, str], limits: tuple[float, float, float]
) -> Iterator[JacobianPair]:
    """Both kinds of Jacobians of each output by each of the inputs `names`, compared."""
    eps, atol, rtol = limits
    outputs = as_tuple(fn(*given))
    floating = [i for i, o in enumerate(outputs) if is_tensor(o) and dtype_name(o).startswith(FLOATING)]
    asking = [i for i in floating if outputs[i].requires_grad] or floating
    columns = {i: columns_of(outputs[i], f"out{i}" if len(outputs) > 1 else "out") for i in asking}
    widths = [len(columns[i]) for i in asking]
    by_input = {k: numerical(fn, given, k, asking, widths, eps) for k in names}
    for n, i in enumerate(asking):
        found = analytical(outputs[i], [given[k] for k in names])
        for (k, name), a in zip(names.items(), found, strict=True):
            expected, shape = by_input[k][n], tuple(given[k].shape)
            wrong = places(a, expected, atol, rtol)
            rows = elements(name, a.shape[0], shape)
            yield JacobianPair(i, k, expected, a, rows, columns[i], dtype_name(given[k]), wrong)


FLOATING = ("float", "bfloat", "complex")


def columns_of(output: Any, name: str) -> tuple[str, ...]:
    """What to call the columns of an output."""
    names = elements(name, output.numel(), tuple(output.shape))
    if not dtype_name(output).startswith("complex"):
        return names
    return (*(f"Re {name}" for name in names), *(f"Im {name}" for name in names))


def flat(output: Any) -> Array:
    """The numbers of an output in a row, copied; of a complex one the real parts, then the imaginary ones."""
    row = np.array(array_of(output)).reshape(-1)
    return np.concatenate([row.real, row.imag]) if row.dtype.kind == "c" else row


def numerical(
    fn: Callable[..., Any], given: tuple[Any, ...], k: int, asking: list[int], widths: list[int], eps: float
) -> list[Array]:
    """By central differences: the Jacobian of each of the outputs `asking` by input `k`."""
    data = given[k].data
    complex_input = dtype_name(data).startswith("complex")
    rows: list[list[Array]] = [[] for _ in asking]

    def around(index: tuple[int, ...], step: complex) -> list[Array]:
        middle = data[index].clone()
        try:
            sides = []
            for signed in (-step, step):
                data[index] = middle + signed
                results = as_tuple(fn(*given))
                sides.append([flat(results[i]) for i in asking])
        finally:
            data[index] = middle
        return [(above - below) / (2 * eps) for below, above in zip(*sides, strict=True)]

    for index in np.ndindex(tuple(data.shape)):
        found = around(index, eps)
        if complex_input:
            found = [x + 1j * y for x, y in zip(found, around(index, eps * 1j), strict=True)]
        for column, row in zip(rows, found, strict=True):
            column.append(row)
    return [
        np.stack(found) if found else np.zeros((0, width)) for found, width in zip(rows, widths, strict=True)
    ]


def analytical(output: Any, inputs: list[Any]) -> list[Array]:
    """By backward: the Jacobian of an output by each input, a column per start."""
    columns: list[list[Array]] = [[] for _ in inputs]
    for start in starts(output):
        gradients: Any = [None] * len(inputs)
        if output.requires_grad:
            grad = sys.modules[type(output).__module__.partition(".")[0]].autograd.grad
            gradients = grad(output, inputs, start, retain_graph=True, allow_unused=True)
        for column, t, g in zip(columns, inputs, gradients, strict=True):
            column.append(np.array(array_of(t.detach() * 0 if g is None else g)).reshape(-1))
    both = zip(columns, inputs, strict=True)
    return [np.stack(column, 1) if column else np.zeros((t.numel(), 0)) for column, t in both]


def starts(output: Any) -> Iterator[Any]:
    """The gradients that backward begins with: 1 at one element; for a complex output then i."""
    for one in (1, 1j) if dtype_name(output).startswith("complex") else (1,):
        for index in np.ndindex(tuple(output.shape)):
            start = output.detach() * 0
            start[index] = one
            yield start
