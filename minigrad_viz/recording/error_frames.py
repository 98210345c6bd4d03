"""What the frames of an error show: the tensors that a failing expression names, and what a gradcheck
compared.

The tensors are looked up without running anything: no property, no `__getattr__`, no `__getitem__` of an
object that is not known. Where that would be needed, the tensor stays unnamed.

Note [The checker's own matrices]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
    The text of the error shortens matrices and has four digits. The frame that raised it still has the
    matrices themselves, and how exact they had to be. Only PyTorch's fast mode has let go of the whole
    Jacobians by then; the last that it did with them was to compare them with `torch.allclose`, which the
    recorder of a cell has seen. Nothing is computed again, so the user's function is not called.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterator
from types import FrameType, ModuleType, TracebackType
from typing import Any

import numpy as np

from ..isolation import pass_on
from ..protocol import NAN, WHOLE, Value, array_of, dtype_name, has_history, is_tensor
from ..trace.events import GradcheckComparison
from ..trace.source_positions import Spot
from ..trace.statements import parse_source

ELSEWHERE = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)  # names of their own
NOTHING = object()


def named_tensors(spot: Spot | None, frame: FrameType | None) -> list[tuple[str, Any]]:
    """The tensors that the expression at `spot` names, which `frame` evaluates, with the text by which it
    does: `x`, `self.weight`, `rows[0]`. Of an assignment to an attribute or item the value counts as well."""
    if spot is None or frame is None:
        return []
    tree = assignment(spot) or parse_source(spot.span.text)
    found: dict[str, Any] = {}
    for node in () if tree is None else chains(tree):
        value = looked_up(node, frame)
        if is_tensor(value) and has_history(value):
            found.setdefault(ast.unparse(node), value)
    return list(found.items())


def assignment(spot: Spot) -> ast.AST | None:
    """The whole statement, if `spot` is the target of an assignment."""
    whole = None if spot.statement is None else spot.statement.text
    return _assignment(whole, spot.span.text) if whole else None


@functools.lru_cache(64)  # in a loop the same statements come again and again
def _assignment(whole: str, part: str) -> ast.AST | None:
    body = getattr(parse_source(whole), "body", None)
    if not body or not isinstance(body[0], ast.Assign):
        return None
    targets = (ast.get_source_segment(whole, target) for target in body[0].targets)
    return body[0] if part in targets else None


def chains(tree: ast.AST) -> Iterator[ast.expr]:
    """The names in a tree, and the attributes and items of names, in the order of the source; not those
    inside functions and comprehensions, where a name may be another's."""
    stack = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
            yield node
        if not isinstance(node, ELSEWHERE):
            stack += reversed(list(ast.iter_child_nodes(node)))


def looked_up(node: ast.AST, frame: FrameType) -> Any:
    """What a chain of names stands for in `frame`, or NOTHING."""
    if isinstance(node, ast.Name):
        return frame.f_locals.get(node.id, frame.f_globals.get(node.id, NOTHING))
    if isinstance(node, ast.Attribute):
        return member(looked_up(node.value, frame), node.attr)
    if isinstance(node, ast.Subscript):
        place = node.slice.value if isinstance(node.slice, ast.Constant) else looked_up(node.slice, frame)
        return item(looked_up(node.value, frame), place)
    return NOTHING


def member(thing: Any, name: str) -> Any:
    """An attribute that a module or an object keeps, or NOTHING; `.grad` of a tensor that may have one."""
    if thing is NOTHING:
        return NOTHING
    if is_tensor(thing):
        kept = name == "grad" and has_history(thing) and (thing.is_leaf or thing.retains_grad)
        return thing.grad if kept else NOTHING
    try:
        inside = object.__getattribute__(thing, "__dict__")
    except AttributeError as missing:
        pass_on(missing)
        return NOTHING
    if not isinstance(inside, dict):
        return NOTHING
    holders = () if isinstance(thing, ModuleType) else ("_parameters", "_buffers", "_modules")
    for holder in (inside, *(inside.get(key) for key in holders)):  # an nn.Module keeps its own there
        if type(holder) is dict and name in holder:
            return holder[name]
    return NOTHING


def item(thing: Any, place: Any) -> Any:
    """An item of a plain list, tuple or dictionary, or NOTHING."""
    if type(thing) in (list, tuple) and type(place) is int and -len(thing) <= place < len(thing):
        return thing[place]
    if type(thing) is dict and type(place) in (str, int):
        return thing.get(place, NOTHING)
    return NOTHING


def named_by(spot: Spot | None) -> tuple[Any, str | None]:
    """The span of a point in the source, and the variable that names what it computes."""
    return (None, None) if spot is None else (spot.span, spot.name)


def write_at(spot: Spot | None) -> Any:
    """The span of a write at a point in the source."""
    if spot is not None and spot.statement is not None and assignment(spot) is not None:
        return spot.statement  # `y[0] = 1.`, of which the target is the place
    return named_by(spot)[0]


Seen = tuple[Any, ...]


def gradcheck_comparison(error: BaseException, seen: Seen = ()) -> GradcheckComparison | None:
    """What the gradcheck compared that raised `error`; None if none did, or for large matrices. `seen` are
    the arguments of its last `torch.allclose`."""
    for frame in frames(error):
        reader = READERS.get((frame.f_globals.get("__name__"), frame.f_code.co_name))
        if reader is not None:
            return reader(frame.f_locals, seen)
    return None


def of_minigrad(held: Any, seen: Seen) -> GradcheckComparison | None:
    """What minigrad's checker has, in both modes."""
    limits = held["problem"].limits
    return both_matrices(held["expected"], held["found"], limits.eps, limits.atol, limits.rtol)


def of_pytorch(held: Any, seen: Seen) -> GradcheckComparison | None:
    """What PyTorch's checker has in slow mode; None before it has compared anything."""
    return (
        both_matrices(held["n"], held["a"], held["eps"], held["atol"], held["rtol"]) if "a" in held else None
    )


def of_fast_pytorch(held: Any, seen: Seen) -> GradcheckComparison | None:
    """What PyTorch's checker compared last in fast mode."""
    return both_matrices(seen[1], seen[0], held["eps"], held["atol"], held["rtol"]) if seen else None


READERS: dict[tuple[Any, str], Callable[[Any, Seen], GradcheckComparison | None]] = {
    ("minigrad.autograd.gradcheck.checks", "compare"): of_minigrad,
    ("minigrad.autograd.gradcheck.checks", "judge"): of_minigrad,
    ("torch.autograd.gradcheck", "_slow_gradcheck"): of_pytorch,
    ("torch.autograd.gradcheck", "_check_analytical_numerical_equal"): of_fast_pytorch,
}


def frames(error: BaseException | None) -> Iterator[FrameType]:
    """The frames that an error came through, and those of the error in whose place it was raised."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:  # errors may be each other's context
        seen.add(id(error))
        yield from (entry.tb_frame for entry in entries(error.__traceback__))
        error = error.__context__


def entries(traceback: TracebackType | None) -> Iterator[TracebackType]:
    """The entries of a traceback, outermost first."""
    while traceback is not None:
        yield traceback
        traceback = traceback.tb_next


def both_matrices(numerical: Any, analytical: Any, *limits: float) -> GradcheckComparison | None:
    """Both matrices as plain data."""
    if np.prod(numerical.shape) > WHOLE:
        return None
    return GradcheckComparison(all_numbers(numerical), all_numbers(analytical), *map(float, limits))


def all_numbers(matrix: Any) -> Value:
    """All numbers of a matrix, without −0."""
    data = np.asarray(array_of(matrix) if is_tensor(matrix) else matrix)
    dtype = dtype_name(matrix) if is_tensor(matrix) else data.dtype.name
    numbers = (data + 0.0).reshape(-1).tolist()
    return Value(tuple(data.shape), dtype, tuple(n if n == n else NAN for n in numbers))
