"""Which tensor a failing call was about, from the text of its expression and from what the trace knows; and
what is told of it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..model.naming import plain_name
from ..model.place import LIBRARY
from ..recording.named import parsed
from ..trace.events import Created, Detached, Forward, TensorState
from ..trace.explained import Explanation
from ..trace.where import Span
from ..words import columns
from .case import Case

LONGEST = 60  # columns of a call that is quoted with what is to be added to it


class Subject(NamedTuple):
    """A tensor that was refused: the text by which the expression has it, and how it stood."""

    text: str
    state: TensorState

    @property
    def id(self) -> str:
        """The id of the tensor."""
        return self.state.id


def subject(case: Case, fits: Callable[[TensorState], bool], given: bool = False) -> Subject | None:
    """The tensor that the failing call was about, which `fits` the error: the one whose method was called, or
    that was written to; with `given` else the only one among the arguments. None where that is not certain.
    """
    owner = receiver(case)
    found = [Subject(text, state) for text in operands(case) if (state := standing(case, text)) is not None]
    fitting = [each for each in found if fits(each.state)]
    mine = [each for each in fitting if each.text == owner]
    if mine:
        return mine[0]
    return fitting[0] if given and len({each.id for each in fitting}) == 1 else None


def raised_by_hand(case: Case) -> bool:
    """Whether the cell itself raised the error."""
    return case.span is not None and case.span.text.startswith("raise")


def standing(case: Case, text: str) -> TensorState | None:
    """The tensor that an operand is: one with a name, or the result that was computed there."""
    named = dict(case.failed.named) if case.failed is not None else {}
    return named[text] if text in named else computed(case, text)


def computed(case: Case, text: str) -> TensorState | None:
    """The newest result of the expression `text` within the lines of the failing one."""
    first, last = (0, 0) if case.span is None else (case.span.line, case.span.end_line)
    for event in reversed(case.before):
        span = getattr(event, "span", None)
        if span is None or not isinstance(event, Created | Forward | Detached):
            continue
        if not (case.span and span.origin == case.span.origin and first <= span.line <= last):
            continue
        states = event.outputs if isinstance(event, Forward) else (event.tensor,)
        if plain(span.text) == text:
            return states[0] if len(states) == 1 else None
    return None


def plain(source: str) -> str:
    """An expression as `ast` writes it."""
    tree = parsed(source)
    return "" if tree is None else ast.unparse(tree)


def receiver(case: Case) -> str | None:
    """What the failing call is a method of, or what the failing statement writes to."""
    node = expression(case)
    if isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Attribute | ast.Subscript):
        return ast.unparse(node.value)
    return ast.unparse(node.target) if isinstance(node, ast.AugAssign) else None


def operands(case: Case) -> list[str]:
    """The receiver of the failing expression and its arguments, those in lists and dictionaries too."""
    node, owner = expression(case), receiver(case)
    given: list[ast.expr] = []
    if isinstance(node, ast.Call):
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
    inner = [ast.unparse(part) for argument in given for part in flat(argument)]
    return list(dict.fromkeys([*([owner] if owner else ()), *inner]))


def flat(node: ast.expr | None) -> Iterator[ast.expr]:
    """An argument, or what stands in it if it is a list, a tuple or a dictionary."""
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        for part in node.elts:
            yield from flat(part)
    elif isinstance(node, ast.Dict):
        for part in node.values:
            yield from flat(part)
    elif node is not None:
        yield node


def expression(case: Case) -> ast.AST | None:
    """The syntax tree of what failed."""
    tree = None if case.span is None else parsed(case.span.text)
    body = getattr(tree, "body", None)
    if not body:
        return None
    return body[0].value if isinstance(body[0], ast.Expr) else body[0]


def called(source: str) -> str:
    """An expression as it stands before a dot: in brackets if it is a computation."""
    node = getattr(parsed(source), "body", [None])[0]
    value = getattr(node, "value", None)
    plain = isinstance(value, ast.Name | ast.Attribute | ast.Subscript | ast.Call)
    return source if plain else f"({source})"


def with_option(span: Span, option: str) -> str | None:
    """A backward call as it stands in the source, with `create_graph=True` or `retain_graph=True`; None for
    what is no call, or is too long to be quoted."""
    call = parsed_call(span)
    if call is None:
        return None
    kept = [keyword for keyword in call.keywords if keyword.arg not in (option, "retain_graph")]
    given = ast.keyword(option, ast.Constant(True))
    text = LIBRARY.sub("", ast.unparse(ast.Call(call.func, call.args, [*kept, given])))
    return text if columns(text) <= LONGEST else None


def parsed_call(span: Span | None) -> ast.Call | None:
    """The syntax tree of a call; None for anything else."""
    body = getattr(None if span is None else parsed(span.text), "body", None)
    call = getattr(body[0], "value", None) if body else None
    return call if isinstance(call, ast.Call) else None


# ── telling of it ───────────────────────────────────────────────────────────────────────────────────────────


def about(
    case: Case, key: str, found: Subject | None, why: str, fix: str, label: str, **values: object
) -> Explanation:
    """The explanation of an error about one tensor: its sentences, of which `why` and `fix` are the keys,
    name it, it is marked with a `label`, and where it was made is the cause. Without the tensor, only that it
    is this error."""
    if found is None:
        return case.explain(key)
    values = {"name": title(case, found), "called": called(found.text), **values}
    marks = case.card(found.id, label=case.words(label, **values))
    return case.explain(
        key, case.words(why, **values), case.words(fix, **values), marks, made_at(case, found.id)
    )


def title(case: Case, found: Subject) -> str:
    """What a sentence calls a tensor: as the failing expression does, and as the picture does if that
    differs: `t (w)` inside a function that got `w`."""
    named = plain_name(case.scene.named.get(found.id, found.text))
    return found.text if named == found.text else f"{found.text} ({named})"


def made_at(case: Case, tensor: str) -> Span | None:
    """Where a tensor was made, if that is not where the error came up."""
    event, failed = case.scene.index.births.get(tensor), case.span
    span = None if event is None else event.span
    if span is None or failed is None or span.origin != failed.origin:
        return span
    return None if span.text in failed.text and span.line >= failed.line else span
