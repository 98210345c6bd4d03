"""What the source says of a `gradcheck`: its inputs, and whose backward it checked.

Only what can be read plainly is believed: a class that the cell defines once, a function that is one
expression, names that are assigned once.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..trace.source_text import SourceText, range_of
from ..trace.where import Span

CHECKS = ("gradcheck", "gradgradcheck")
CUTTING = ("detach", "no_grad", "data", "item", "numpy", "tolist", "set_grad_enabled", "inference_mode")


class Call(NamedTuple):
    """A call of `gradcheck` or (`second`) `gradgradcheck`. `inputs` are the expressions of its inputs, None
    where they cannot be read."""

    function: ast.expr
    inputs: tuple[ast.expr, ...] | None
    second: bool


class Culprit(NamedTuple):
    """A backward that gives a wrong gradient: the name of its Function, and where the source says what it
    returns, for the input in question if `exact`."""

    name: str
    span: Span
    exact: bool


class Source:
    """The text of a cell, for looking up what a call in it checks."""

    def __init__(self, text: str) -> None:
        self._text = SourceText(text)
        tree = self._text.tree
        self._body: list[ast.stmt] = [] if tree is None else tree.body

    def call(self, span: Span | None) -> Call | None:
        """The call that stands at `span`; None if none does, or more than one."""
        try:
            tree = None if span is None else ast.parse(f"({span.text}\n)", mode="eval")
        except (SyntaxError, ValueError):
            return None
        calls = [] if tree is None else checks_in(tree)
        return self.read(calls[0]) if len(calls) == 1 else None

    def read(self, call: ast.Call) -> Call | None:
        """What a call says; None if it leaves open what is checked."""
        given = dict(zip(("func", "inputs"), call.args, strict=False))
        given |= {k.arg: k.value for k in call.keywords if k.arg}
        function = given.get("func")
        if function is None or any(isinstance(a, ast.Starred) for a in call.args):
            return None
        inputs = given.get("inputs")
        read = None if inputs is None else self.inputs(inputs)
        return Call(function, read, named(call.func) == "gradgradcheck")

    def inputs(self, given: ast.expr) -> tuple[ast.expr, ...] | None:
        """The expressions of the inputs; None if they cannot be read."""
        if isinstance(given, ast.Name):
            assigned = self.assigned(given.id)
            given = assigned if isinstance(assigned, ast.Tuple | ast.List) else given
        if isinstance(given, ast.Tuple | ast.List):
            return None if any(isinstance(e, ast.Starred) for e in given.elts) else tuple(given.elts)
        return (given,)

    def assigned(self, name: str) -> ast.expr | None:
        """What is assigned to a name, if the cell does that exactly once, at its top level."""
        return self._assigned.get(name)

    @functools.cached_property
    def _assigned(self) -> dict[str, ast.expr]:
        stored = [n.id for s in self._body for n in ast.walk(s) if isinstance(n, ast.Name) and written(n)]
        found = {}
        for statement in self._body:
            if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                target = statement.targets[0]
                if isinstance(target, ast.Name) and stored.count(target.id) == 1:
                    found[target.id] = statement.value
        return found

    def defined(self, name: str, kind: Any) -> Any:
        """The class or function of that name, if the cell defines it exactly once, at its top level."""
        found = [s for s in self._body if getattr(s, "name", None) == name]
        return found[0] if len(found) == 1 and isinstance(found[0], kind) else None

    def applied(self, function: ast.expr) -> ast.ClassDef | None:
        """The custom Function whose `apply` an expression is."""
        if isinstance(function, ast.Name):
            function = self.assigned(function.id) or function
        if not isinstance(function, ast.Attribute) or function.attr != "apply":
            return None
        owner = self.defined(named(function.value), ast.ClassDef)
        return owner if owner is not None and any(named(b) == "Function" for b in owner.bases) else None

    def culprit(self, call: Call, input: int | None) -> Culprit | None:
        """The backward that gives a wrong gradient for input number `input` of all (None: it is not known
        which). None unless there is exactly one custom Function in what was checked."""
        function = call.function
        whole = self.applied(function)
        if whole is not None:
            return self.returned(whole, input)
        parameters, body = self.opened(function)
        uses = [(self.applied(n.func), n) for n in ast.walk(body) if isinstance(n, ast.Call)] if body else []
        uses = [(owner, use) for owner, use in uses if owner is not None]
        if body is None or len(uses) != 1 or any(named(n) in CUTTING for n in ast.walk(body)):
            return None
        owner, use = uses[0]
        assert owner is not None
        name = parameters[input] if input is not None and input < len(parameters) else ""
        return self.returned(owner, place(use, name, body))

    def opened(self, function: ast.expr) -> tuple[list[str], ast.expr | None]:
        """The parameters of a function that is one expression, and that expression."""
        known: Any = function
        if isinstance(function, ast.Name):
            known = self.assigned(function.id) or self.defined(function.id, ast.FunctionDef)
        if isinstance(known, ast.Lambda):
            return [a.arg for a in known.args.args], known.body
        if isinstance(known, ast.FunctionDef) and isinstance(known.body[-1], ast.Return):
            told = [s for s in known.body[:-1] if not isinstance(s, ast.Expr)]
            return [a.arg for a in known.args.args], None if told else known.body[-1].value
        return [], None

    def returned(self, owner: ast.ClassDef, input: int | None) -> Culprit | None:
        """Where the backward of a Function says what it returns: for one input, or (None) at all."""
        methods = [s for s in owner.body if isinstance(s, ast.FunctionDef) and s.name == "backward"]
        if len(methods) != 1:
            return None
        returns = [n for n in ast.walk(methods[0]) if isinstance(n, ast.Return) and n.value is not None]
        if len(returns) != 1:
            return None
        given = returns[0].value
        parts = list(given.elts) if isinstance(given, ast.Tuple) else [given]
        if input is None or input >= len(parts) or any(isinstance(p, ast.Starred) for p in parts):
            return Culprit(owner.name, self.span(returns[0]), False)
        part = parts[input]
        assert part is not None
        made = made_by(methods[0], part.id) if isinstance(part, ast.Name) else None
        return Culprit(owner.name, self.span(made or (part if len(parts) > 1 else returns[0])), True)

    def span(self, node: ast.AST) -> Span:
        """Where a part of the cell stands."""
        where = self._text.in_characters(range_of(node))
        return Span(*where, self._text.cut(where))


def checks_in(tree: ast.AST) -> list[ast.Call]:
    """The calls of gradcheck and gradgradcheck in a tree."""
    return [n for n in ast.walk(tree) if isinstance(n, ast.Call) and named(n.func) in CHECKS]


def named(node: ast.AST) -> str:
    """The last part of a dotted name: `gradcheck` of `torch.autograd.gradcheck`."""
    return getattr(node, "attr", None) or getattr(node, "id", None) or ""


def written(name: ast.Name) -> bool:
    """Whether a name is assigned to."""
    return not isinstance(name.ctx, ast.Load)


def place(use: ast.Call, name: str, body: ast.AST) -> int | None:
    """Which argument of `apply` a parameter is, if that is all that it is used for."""
    uses = [n for n in ast.walk(body) if isinstance(n, ast.Name) and n.id == name]
    places = [k for k, argument in enumerate(use.args) if argument in uses]
    return places[0] if len(uses) == 1 and len(places) == 1 else None


def made_by(function: ast.FunctionDef, name: str) -> ast.stmt | None:
    """The statement that gives a local name its value, if there is exactly one."""
    found = [s for s in statements(function) if any(written(n) for n in names_in(s, name))]
    return found[0] if len(found) == 1 and isinstance(found[0], ast.Assign) else None


def statements(function: ast.FunctionDef) -> Iterator[ast.stmt]:
    """All statements without a body of their own inside a function."""
    return (n for n in ast.walk(function) if isinstance(n, ast.stmt) and not hasattr(n, "body"))


def names_in(tree: ast.AST, name: str) -> list[ast.Name]:
    """Where a name stands in a tree."""
    return [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == name]
