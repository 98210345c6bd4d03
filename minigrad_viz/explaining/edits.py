"""Fixes as code: a statement of the cell, or a part of it, written so that it does what was meant."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import Any

import minigrad

from ..model.naming import plain_name
from ..model.stations import LIBRARY
from ..trace.events import Forward, TensorCreated
from ..trace.source_positions import Span
from ..words import columns
from .case import Case, Fix, Sentence
from .syntax import constants, expression_of_span, last_name, node_at, span_at, statement_around, written_as

LONGEST = 80  # columns of code that is quoted
LINE = 100  # columns of a line that is quoted with a change: a program's own may be that long
CALL = 60  # columns of a backward call that is quoted with what is to be added to it
NO_GRAD = "with torch.no_grad(): "
CREATORS = ("randn", "rand", "zeros", "ones", "empty")
FILLED = {"zero_": "zeros_like", "fill_": "full_like", "normal_": "randn_like", "uniform_": "rand_like"}

Edits = Mapping[ast.expr, str]  # parts of the source, and what is to stand there instead
Shape = tuple[int, ...]


# ── a line with some parts written otherwise ────────────────────────────────────────────────────────────────


def quote(tree: ast.AST | str | None, longest: int = LONGEST) -> str | None:
    """Code that may be in a sentence; None for what is too long, or has a block."""
    text = tree if isinstance(tree, str) else "" if tree is None else ast.unparse(tree)
    return text if text and "\n" not in text and columns(text) <= longest else None


def rewritten(case: Case, around: ast.AST | None, edits: Edits) -> str | None:
    """The statement that holds `around`, with other texts for some of its parts; where that has a block or is
    too long, `around` alone; None where even that cannot be quoted."""
    for holder in (None if around is None else statement_around(case, around), around):
        if isinstance(holder, ast.Assign | ast.AugAssign | ast.Expr | ast.Return | ast.expr):
            text = edit_part(case, holder, edits)
            if text is not None:
                return text
    return None


def edit_part(case: Case, holder: ast.stmt | ast.expr, edits: Edits) -> str | None:
    """A part of the cell that is in one line, with other texts for some parts of it."""
    text = written_as(case, holder)
    if "\n" in text:
        return None
    raw = text.encode()
    for node, new in sorted(edits.items(), key=lambda edit: -edit[0].col_offset):
        begin, end = node.col_offset - holder.col_offset, (node.end_col_offset or 0) - holder.col_offset
        raw = raw[:begin] + new.encode() + raw[end:]
    return quote(raw.decode(), LINE)


def with_option(case: Case, call: ast.Call, option: str, value: object) -> Edits | None:
    """How a call gets one more option; None if it has that already."""
    told = {each.arg: each.value for each in call.keywords}
    given = [*call.args, *told.values()]
    if option in told:
        return None
    if not given:
        return {call: f"{ast.unparse(call.func)}({option}={value})"}
    return {given[-1]: f"{written_as(case, given[-1])}, {option}={value}"}


# ── what created something ──────────────────────────────────────────────────────────────────────────────────


def require_gradients(case: Case, tensors: Iterable[str]) -> Sentence | None:
    """What to do: create some tensors so that they require gradients; None where one cannot be quoted."""
    lines = [created_requiring(case, id) for id in tensors]
    if not lines or None in lines:
        return None
    return case.words("no_grad_fn_fix_lines", lines=", ".join(filter(None, lines)))


def created_requiring(case: Case, tensor: str) -> str | None:
    """The line that created a tensor, such that it requires gradients."""
    event = case.scene.index.births.get(tensor)
    call = node_at(case, event.span) if isinstance(event, TensorCreated) else None
    if not isinstance(call, ast.Call) or last_name(call) not in (*CREATORS, "tensor", "full", "linspace"):
        return None
    told = [each.value for each in call.keywords if each.arg == "requires_grad"]
    edits: Edits | None = {told[0]: "True"} if told else with_option(case, call, "requires_grad", True)
    code = rewritten(case, call, edits) if edits and call.args else None
    return None if code is None else case.words("create_line", line=call.lineno, code=code)


def sizes_of(case: Case, tensor: str) -> tuple[ast.expr, list[ast.expr]] | None:
    """The expression that created a tensor by numbers in the source, and those numbers."""
    event = case.scene.index.births.get(tensor)
    node = node_at(case, event.span) if isinstance(event, TensorCreated | Forward) else None
    inside = list(ast.walk(node)) if isinstance(node, ast.Call | ast.BinOp) else []
    calls = [part for part in inside if isinstance(part, ast.Call) and last_name(part) in CREATORS]
    if any(isinstance(part, ast.MatMult) for part in inside) or len(calls) != 1:  # @ gives another shape
        return None
    sizes = calls[0].args
    if len(sizes) == 1 and isinstance(sizes[0], ast.Tuple | ast.List):
        sizes = sizes[0].elts
    return (node, sizes) if isinstance(node, ast.expr) and sizes else None


class Constructor:
    """The call in the cell that created a layer of a model, and what to do about it: the call, changed."""

    def __init__(self, case: Case, call: ast.Call) -> None:
        self.case, self.call = case, call
        self.span = span_at(case, call)

    def changed(self, place: int, new: object) -> Fix | None:
        """Another number as its argument `place`."""
        given = self.call.args[place : place + 1]
        return replace_part(self.case, self.call, {given[0]: str(new)} if given else None)

    def renamed(self, kind: str) -> Fix | None:
        """The call of another class."""
        path = ast.unparse(self.call.func).removesuffix(last_name(self.call))
        return replace_part(self.case, self.call, {self.call.func: path + kind})

    def with_option(self, option: str, value: object) -> Fix | None:
        """One more option; None if it has that already."""
        return replace_part(self.case, self.call, with_option(self.case, self.call, option, value))


def replace_part(case: Case, part: ast.expr, edits: Edits | None) -> Fix | None:
    """What to do: write a part of the cell otherwise."""
    code = None if edits is None else edit_part(case, part, edits)
    if code is None:
        return None
    text = case.words("constructor_fix", line=part.lineno, code=code, text=written_as(case, part))
    return Fix(text, span_at(case, part))


def constructor(case: Case, kind: str, path: str, sizes: Shape) -> Constructor | None:
    """The call that created the layer at `path`, of class `kind`: the one that is assigned to that name, else
    the only one with the numbers `sizes` as its first arguments; None if several could be meant."""
    found = at_path(case, path)
    calls = [part for part in case.syntax() if isinstance(part, ast.Call) and last_name(part) == kind]
    if not any(found is call for call in calls):
        fitting = [call for call in calls if constants(call.args)[: len(sizes)] == sizes]
        found = fitting[0] if len(fitting) == 1 and case.ran(fitting[0]) else None
    return Constructor(case, found) if isinstance(found, ast.Call) else None


def at_path(case: Case, path: str) -> ast.expr | None:
    """What is assigned to the last name of a path in the cell: `self.fc = …` of `net.fc`; of `net.body.2` the
    third argument of what is assigned to `self.body`. None if it is not written exactly once, or may not have
    run."""
    name, _, place = path.rpartition(".") if path.rpartition(".")[2].isdigit() else (path, "", "")
    own = name.rpartition(".")[2]
    every = [part for part in case.syntax() if isinstance(part, ast.Assign)]
    made = [part for part in every if ast.unparse(part.targets[0]).rpartition(".")[2] == own]
    values = [part.value for part in made if case.ran(part)]
    if len(made) != 1 or not values or not place:
        return values[0] if len(made) == len(values) == 1 else None
    inner = values[0].args if isinstance(values[0], ast.Call) else []
    plain = int(place) < len(inner) and not any(isinstance(each, ast.Starred) for each in inner)
    return inner[int(place)] if plain else None


# ── writing in place ────────────────────────────────────────────────────────────────────────────────────────


def in_place(case: Case, span: Span | None) -> str:
    """The statement that writes in place, inside no_grad(); where it is not a simple one, without its
    text."""
    tree = statement_around(case, span)
    simple = isinstance(tree, ast.Expr | ast.AugAssign | ast.Assign)
    return NO_GRAD + ((quote(written_as(case, tree)) if simple and tree is not None else None) or "…")


def out_of_place(case: Case, span: Span | None, written: str = "") -> str | None:
    """What gives the variable a new tensor instead of writing to its memory: `w = w + 1` for `w += 1`,
    `w = w.clone(); w[0] = 5` for an assignment to a part; None where that is not known. `written` is the
    name of the tensor, which may be an item of a list: `hs[1] = hs[1] + 1`."""

    def whole(target: ast.expr) -> bool:
        return plain_target(target) or ast.unparse(target) == written

    tree = statement_around(case, span)
    if isinstance(tree, ast.AugAssign) and whole(tree.target):
        return quote(assignment_text(tree.target, ast.BinOp(as_value(tree.target), tree.op, tree.value)))
    if isinstance(tree, ast.Assign | ast.AugAssign):
        target = tree.targets[0] if isinstance(tree, ast.Assign) else tree.target
        if isinstance(target, ast.Subscript) and whole(target.value):
            return quote(f"{ast.unparse(clone_assignment(target.value))}; {written_as(case, tree)}")
    call = tree.value if isinstance(tree, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    owner, name = call.func.value, call.func.attr
    if ast.unparse(owner) == "torch" and call.args:  # torch.relu_(h)
        owner, call = call.args[0], ast.Call(ast.Attribute(call.args[0], name), call.args[1:], call.keywords)
    if not whole(owner) or not name.endswith("_") or name.endswith("__"):
        return None
    new = without_writing(call, owner, name)
    if new is None:
        return quote(f"{ast.unparse(clone_assignment(owner))}; {ast.unparse(call)}")
    return quote(assignment_text(owner, new))


def without_writing(call: ast.Call, owner: ast.expr, name: str) -> ast.expr | None:
    """The call without its writing: `x.mul(2)` for `x.mul_(2)`; None for an op that only writes."""
    if name == "copy_" and call.args:
        return ast.Call(ast.Attribute(call.args[0], "clone"), [], [])
    if name in FILLED:
        given = call.args if name == "fill_" else []
        return ast.Call(ast.Attribute(ast.Name("torch"), FILLED[name]), [owner, *given], [])
    if not hasattr(minigrad.Tensor, name[:-1]):
        return None
    return ast.Call(ast.Attribute(owner, name[:-1]), call.args, call.keywords)


def plain_target(tree: ast.expr) -> bool:
    """Whether a tree is a variable, or an attribute of one."""
    return isinstance(tree, ast.Name) or (isinstance(tree, ast.Attribute) and plain_target(tree.value))


def as_value(tree: ast.expr) -> Any:
    """The same tree, as a value."""
    return ast.parse(ast.unparse(tree), mode="eval").body


def assignment_text(target: ast.expr, value: ast.expr) -> ast.Assign:
    """`target = value`."""
    return ast.Assign([target], value, lineno=0)


def clone_assignment(target: ast.expr) -> ast.Assign:
    """`target = target.clone()`."""
    return assignment_text(target, ast.Call(ast.Attribute(as_value(target), "clone"), [], []))


# ── a backward call ─────────────────────────────────────────────────────────────────────────────────────────


def call_with(span: Span | None, option: str) -> str | None:
    """A backward call as written in the source, with `create_graph=True` or `retain_graph=True`; None for
    anything but a call, and for one that is too long to be quoted."""
    call = expression_of_span(span)
    if not isinstance(call, ast.Call):
        return None
    kept = [keyword for keyword in call.keywords if keyword.arg not in (option, "retain_graph")]
    given = ast.keyword(option, ast.Constant(True))
    return quote(LIBRARY.sub("", ast.unparse(ast.Call(call.func, call.args, [*kept, given]))), CALL)


# ── numbers that leave the graph ────────────────────────────────────────────────────────────────────────────


def tensors_read_as_numbers(case: Case, call: ast.AST) -> list[ast.expr]:
    """The tensors of the cell of which a call takes Python numbers: `x` of `x.item()`, `float(x)`,
    `math.log(x)` and `x.detach().numpy()`; none for any other."""
    if not isinstance(call, ast.Call):
        return []
    if isinstance(call.func, ast.Attribute) and call.func.attr in ("item", "tolist"):
        return [call.func.value]
    if isinstance(call.func, ast.Attribute) and call.func.attr == "numpy":
        return [without_detach(call.func.value)]
    numeric = ast.unparse(call.func) in ("float", "int") and len(call.args) == 1
    return call.args if numeric or of_math(case, call) else []


def without_detach(tree: ast.expr) -> ast.expr:
    """`x` of `x.detach()` and `x.detach().cpu()`; any other as it is."""
    while isinstance(tree, ast.Call) and isinstance(tree.func, ast.Attribute) and not tree.args:
        if tree.func.attr not in ("detach", "cpu", "clone"):
            break
        tree = tree.func.value
    return tree


def of_math(case: Case, call: ast.Call) -> bool:
    """Whether a call is one of a function of Python's `math` that torch has too, on tensors of the cell."""
    owner, _, name = ast.unparse(call.func).rpartition(".")
    if owner not in ("", "math") or not hasattr(minigrad, name):
        return False
    parts = case.executed(ast.ImportFrom) if not owner else ()
    imported = [each.name for part in parts if part.module == "math" for each in part.names]
    known = set(map(plain_name, case.scene.named.values())) if owner or name in imported else ()
    return any(ast.unparse(part) in known for given in call.args for part in ast.walk(given))


def with_tensors(case: Case, tree: ast.AST) -> str:
    """A part of the source without what makes Python numbers of tensors, and with functions of torch instead
    of those of `math` and NumPy."""
    return ast.unparse(NumberReadRemover(case).visit(ast.parse(ast.unparse(tree))))


class NumberReadRemover(ast.NodeTransformer):
    """Leaves out what makes a Python number of a tensor, and a new tensor of that."""

    def __init__(self, case: Case) -> None:
        self.case = case

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """The tensor instead of its number."""
        before = list(map(ast.unparse, node.args))
        self.generic_visit(node)
        given = tensors_read_as_numbers(self.case, node)
        if given and of_math(self.case, node):
            return ast.Call(ast.Attribute(ast.Name("torch"), last_name(node)), given, [])
        if last_name(node) in ("tensor", "from_numpy", "as_tensor") and before != list(
            map(ast.unparse, node.args)
        ):
            return node.args[0]
        if of_numpy(node) and before != list(map(ast.unparse, node.args)) and not node.keywords:
            known = callable(getattr(minigrad, last_name(node), None))
            return (
                ast.Call(ast.Attribute(ast.Name("torch"), last_name(node)), node.args, []) if known else node
            )
        return given[0] if given else node


def of_numpy(node: ast.AST) -> bool:
    """Whether a part of the source is a call of a function of NumPy."""
    named = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    return named and ast.unparse(node.func.value) in ("np", "numpy")  # type: ignore[attr-defined]
