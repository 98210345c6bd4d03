"""Fixes as code: a line of the cell with some parts of it written otherwise."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

from ..trace.events import Created, Forward
from ..trace.source_text import range_of
from ..trace.where import Span
from ..words import columns
from .case import Case
from .operation import Operand, Shape, failing_tree, named, taken
from .optimizers import span_at
from .rewrite import written_as
from .subject import called

LONGEST = 100  # columns of a line that is quoted: a program's own may be that long

Edits = Mapping[ast.expr, str]
CREATORS = ("randn", "rand", "zeros", "ones", "empty")


def node_at(case: Case, span: Span | None) -> ast.AST | None:
    """The part of the cell's syntax tree that stands at `span`."""
    if span is None or span.origin:
        return None
    where = span.line, span.column, span.end_line, span.end_column
    places = (part for part in case.parts() if hasattr(part, "end_col_offset"))
    return next((part for part in places if case.source.in_characters(range_of(part)) == where), None)


def failing_node(case: Case) -> ast.AST | None:
    """What failed, as it stands in the cell; of `x[0] = y` the whole assignment."""
    node = node_at(case, case.span)
    return statement_of(case, node) if isinstance(failing_tree(case), ast.Assign) else node


def failing_operand(case: Case, tree: ast.expr) -> ast.expr | None:
    """The operand `tree` of the failing expression as it stands in the cell."""
    text = ast.unparse(tree)
    return next((part for part in taken(failing_node(case)) if ast.unparse(part) == text), None)


def said(case: Case, code: str | None, otherwise: str) -> str:
    """What to do, as code; the sentence `otherwise` where there is none."""
    return case.words(otherwise) if code is None else case.words("write_fix", code=code)


def with_operand(case: Case, tree: ast.expr, new: str) -> str | None:
    """The line that failed, with `new` in the place of an operand; None where it cannot be quoted."""
    part = failing_operand(case, tree)
    return None if part is None else rewritten(case, node_at(case, case.span), {part: new})


def rewritten(case: Case, around: ast.AST | None, edits: Edits) -> str | None:
    """The statement that holds `around`, with other texts for some of its parts; where that has a block or is
    too long, `around` alone; None where even that cannot be quoted."""
    for holder in (statement_of(case, around), around):
        if isinstance(holder, ast.Assign | ast.AugAssign | ast.Expr | ast.Return | ast.expr):
            text = edited(case, holder, edits)
            if text is not None:
                return text
    return None


def statement_of(case: Case, node: ast.AST | None) -> ast.stmt | None:
    """The innermost statement around a part of the cell's tree."""
    found: ast.stmt | None = None
    for part in case.parts():  # outer ones come first
        if isinstance(part, ast.stmt) and any(each is node for each in ast.walk(part)):
            found = part
    return found


def edited(case: Case, holder: ast.stmt | ast.expr, edits: Edits) -> str | None:
    """A part of the cell that stands in one line, with other texts for some parts of it."""
    text = written_as(case, holder)
    if "\n" in text:
        return None
    raw = text.encode()
    for node, new in sorted(edits.items(), key=lambda edit: -edit[0].col_offset):
        begin, end = node.col_offset - holder.col_offset, (node.end_col_offset or 0) - holder.col_offset
        raw = raw[:begin] + new.encode() + raw[end:]
    code = raw.decode()
    return code if columns(code) <= LONGEST else None


def instead(case: Case, new: str) -> str | None:
    """The line that failed, with `new` in the place of the failing expression."""
    part = node_at(case, case.span)
    return rewritten(case, part, {part: new}) if isinstance(part, ast.expr) else None


def with_option(case: Case, option: str, value: str) -> str | None:
    """The line that failed, with one more option for the failing call; None if it has that already."""
    node = failing_node(case)
    if not isinstance(node, ast.Call) or not node.args or any(each.arg == option for each in node.keywords):
        return None
    last = [*node.args, *(each.value for each in node.keywords)][-1]
    return rewritten(case, node, {last: f"{written_as(case, last)}, {option}={value}"})


def exchanged(case: Case, a: ast.expr, b: ast.expr) -> str | None:
    """The line that failed, with two operands in each other's place."""
    one, other = failing_operand(case, a), failing_operand(case, b)
    if one is None or other is None or one is other:
        return None
    return rewritten(
        case, node_at(case, case.span), {one: called(ast.unparse(b)), other: called(ast.unparse(a))}
    )


def with_method(case: Case, tree: ast.expr, method: str) -> str | None:
    """The line that failed, with `method` (`.T`, `.float()`) behind an operand."""
    return with_operand(case, tree, called(ast.unparse(tree)) + method)


def created_call(case: Case, tensor: str) -> ast.Call | None:
    """The call in the cell that created a tensor."""
    event = case.scene.index.births.get(tensor)
    node = node_at(case, event.span) if isinstance(event, Created) else None
    return node if isinstance(node, ast.Call) else None


def created_with_option(case: Case, tensor: str) -> Iterator[tuple[ast.Call, str]]:
    """The call that created a tensor, with the statement as it is when it requires gradients as well."""
    call = created_call(case, tensor)
    if call is None or not call.args or last_name(call) not in (*CREATORS, "tensor", "full", "linspace"):
        return
    told = [each.value for each in call.keywords if each.arg == "requires_grad"]
    last = [*call.args, *(each.value for each in call.keywords)][-1]
    edits = {told[0]: "True"} if told else {last: f"{written_as(case, last)}, requires_grad=True"}
    code = rewritten(case, call, edits)
    if code is not None:
        yield call, code


def created_so(case: Case, tensors: Iterable[str]) -> str | None:
    """What to do: create some tensors so that they require gradients; None where one cannot be quoted."""
    lines = [next(created_with_option(case, id), None) for id in tensors]
    told = [case.words("create_line", line=made[0].lineno, code=made[1]) for made in lines if made]
    if not told or len(told) < len(lines):
        return None
    return case.words("no_grad_fn_fix_lines", lines=", ".join(told))


def resized(case: Case, operand: Operand, new: Shape) -> tuple[str, Span] | None:
    """What to do if a tensor was created in the cell, by sizes that stand there as numbers: create it in the
    shape `new`; and where that stands. None for any other."""
    event = case.scene.index.births.get(operand.id)
    node = node_at(case, event.span) if isinstance(event, Created | Forward) else None
    inside = [] if not isinstance(node, ast.Call | ast.BinOp) else list(ast.walk(node))
    if any(isinstance(part, ast.MatMult) for part in inside):  # which gives another shape
        return None
    calls = [part for part in inside if isinstance(part, ast.Call) and last_name(part) in CREATORS]
    sizes = calls[0].args if len(calls) == 1 else []
    if len(sizes) == 1 and isinstance(sizes[0], ast.Tuple | ast.List):
        sizes = sizes[0].elts
    if (
        not isinstance(node, ast.Call | ast.BinOp)
        or not sizes
        or constants(sizes) != operand.shape
        or len(new) != len(operand.shape)
    ):
        return None
    changed = [i for i in range(len(new)) if operand.shape[i] != new[i]]
    code = rewritten(case, node, {sizes[i]: str(new[i]) for i in changed})
    if code is None:
        return None
    said = case.words("create_as", name=named(case, operand), code=code, line=node.lineno)
    return said, span_at(case, node)


def constants(nodes: Iterable[ast.expr]) -> tuple[object, ...]:
    """What stands in some parts of the source as literals; None for anything else."""
    return tuple(node.value if isinstance(node, ast.Constant) else None for node in nodes)


def last_name(call: ast.Call) -> str:
    """The name of what is called, without what stands before it."""
    return ast.unparse(call.func).rpartition(".")[2]


class Constructor:
    """The call in the cell that created a layer of a model."""

    def __init__(self, case: Case, call: ast.Call) -> None:
        self.case, self.call, self.line = case, call, call.lineno
        self.text = written_as(case, call)
        self.span = span_at(case, call)

    def changed(self, place: int, new: int) -> str | None:
        """What to do: the call with another number as its argument `place`."""
        if place >= len(self.call.args):
            return None
        return self._told({self.call.args[place]: str(new)})

    def renamed(self, kind: str) -> str | None:
        """What to do: the call of another class."""
        name = ast.unparse(self.call.func).rpartition(".")
        return self._told({self.call.func: f"{name[0]}{name[1]}{kind}"})

    def with_option(self, option: str, value: object) -> str | None:
        """What to do: the call with one more option; None if it has that already."""
        if any(each.arg == option for each in self.call.keywords):
            return None
        last = [*self.call.args, *(each.value for each in self.call.keywords)][-1:]
        if not last:
            return self._told({self.call: f"{ast.unparse(self.call.func)}({option}={value})"})
        return self._told({last[0]: f"{written_as(self.case, last[0])}, {option}={value}"})

    def _told(self, edits: Edits) -> str | None:
        code = edited(self.case, self.call, edits)
        if code is None:
            return None
        return self.case.words("constructor_fix", line=self.line, code=code, text=self.text)


def constructor(case: Case, kind: str, path: str, sizes: Shape) -> Constructor | None:
    """The call that created the layer at `path`, of class `kind`: the one that is assigned to that name, else
    the only one with the numbers `sizes` as its first arguments; None if several could be meant."""
    found = at_path(case, path)
    calls = [part for part in case.parts() if isinstance(part, ast.Call) and last_name(part) == kind]
    if not any(found is call for call in calls):
        fitting = [call for call in calls if constants(call.args)[: len(sizes)] == sizes]
        found = fitting[0] if len(fitting) == 1 else None
    return Constructor(case, found) if isinstance(found, ast.Call) else None


def at_path(case: Case, path: str) -> ast.expr | None:
    """What is assigned to the last name of a path in the cell: `self.fc = …` of `net.fc`; of `net.body.2` the
    third argument of what is assigned to `self.body`. None if that is not said once."""
    name, _, place = path.rpartition(".") if path.rpartition(".")[2].isdigit() else (path, "", "")
    own = name.rpartition(".")[2]
    values = [
        part.value
        for part in case.parts()
        if isinstance(part, ast.Assign) and ast.unparse(part.targets[0]).rpartition(".")[2] == own
    ]
    if len(values) != 1 or not place:
        return values[0] if len(values) == 1 else None
    inner = values[0].args if isinstance(values[0], ast.Call) else []
    plain = int(place) < len(inner) and not any(isinstance(each, ast.Starred) for each in inner)
    return inner[int(place)] if plain else None
