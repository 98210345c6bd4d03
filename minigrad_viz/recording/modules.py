"""Calls of modules: which one runs, its path, and what it returned. Tensors that the
variables hold: in lists and dictionaries, and in objects of the user's own classes.

Note [The path of a module]
    A module does not know its name. Where one is called that no other contains, the variables of the cell are
    searched for it and for all that are inside: `model`, `model.0`, `layers[2]`. One that only a function
    knows is named by the text of the call, `self.net(x)`, if that text is a plain name.
"""

from __future__ import annotations

import ast
import itertools
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from ..isolation import pass_on
from ..protocol import has_history, is_tensor, variables
from ..trace.notes import ModuleCallNote, ModuleReturnNote
from ..trace.statements import parse_expression
from .tape import Tape, observer_method

PLAIN = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.expr_context)  # in a plain name
LISTED = 64  # modules of a list that are looked at


class KnownModule:
    """The location of one module: the outermost module that contains it, the path from there (`0.fc1`), and
    the path of the outermost module ("" if no variable leads to it)."""

    def __init__(self, module: Any, top: KnownModule | None, way: str, path: str) -> None:
        self.module = weakref.ref(module)
        self.top, self.way, self.path = top, way, path
        self.kind, self.about = type(module).__name__, sizes(module)

    def place(self, text: str) -> str:
        """Its path; where no variable leads to it, by the `text` of the call of the outermost one."""
        if self.top is not None:
            start = self.top.place("")
            return f"{start}.{self.way}" if start else self.way
        if not self.path:
            self.path = callee(text)
        return self.path


class Modules:
    """The part of a recorder that receives the calls of modules. `calls` are the running ones, outermost
    first; `bring` gives a tensor that nobody has seen an id."""

    def __init__(self, tape: Tape, bring: Callable[[Any], str]) -> None:
        self.tape, self.bring = tape, bring
        self.calls: list[tuple[int, KnownModule]] = []
        self._known: dict[int, KnownModule] = {}  # by identity of the module
        self._numbers = itertools.count()

    @observer_method
    def called(self, module: Any, args: Any, kwargs: Any = None) -> None:
        """A module is about to run."""
        tape = self.tape
        if tape.call or tape.again:
            return
        spot = tape.locator.at(sys._getframe(2))
        known, number = self.known(module), next(self._numbers)
        place = None if spot is None else tape.place_of(spot)
        inputs = tuple(self._ids((args, kwargs or {}), bring=bool(tape.ids.earlier)))
        tape.notes.append(ModuleCallNote(number, known, place, inputs))
        self.calls.append((number, known))

    @observer_method
    def returned(self, module: Any, result: Any) -> None:
        """It has run and returned `result`; None after an error. Those inside it that did not tell were ended
        by an error."""
        open_ = [i for i, (_, known) in enumerate(self.calls) if known.module() is module]
        if self.tape.call or not open_:
            return
        note = self.tape.notes.append
        for number, _ in reversed(self.calls[open_[-1] + 1 :]):
            note(ModuleReturnNote(number))
        number, known = self.calls[open_[-1]]
        del self.calls[open_[-1] :]
        known.kind, known.about = type(module).__name__, sizes(module)  # a lazy one knows them now
        own = [(name, self.tape.ids.known(t)) for name, t in parameters(module)]
        named = tuple((name, id) for name, id in own if id is not None)
        note(ModuleReturnNote(number, tuple(dict.fromkeys(self._ids(result))), named))

    def forget(self) -> None:
        """Reporting pauses: treat the running calls as if an error had ended them."""
        for number, _ in reversed(self.calls):
            self.tape.notes.append(ModuleReturnNote(number))
        self.calls.clear()

    def _ids(self, values: Any, bring: bool = False) -> Iterator[str]:
        """The tensors of the trace among values, those in lists, tuples and dictionaries as well. What an
        earlier cell of a notebook made may come in (`bring`), as it is before the module writes to it."""
        if isinstance(values, list | tuple):
            for value in values:
                yield from self._ids(value, bring)
        elif isinstance(values, dict):
            for value in values.values():
                yield from self._ids(value, bring)
        elif is_tensor(values):
            known = self.tape.ids.known(values)
            if known is None and bring and has_history(values):
                known = self.bring(values)
            if known is not None:
                yield known

    def introduce(self, module: Any, path: str) -> None:
        """A module that is known by this path, whatever variables lead to it."""
        self._take_in(KnownModule(module, None, "", path))

    def known(self, module: Any) -> KnownModule:
        """The location of a module."""
        found = self._known.get(id(module))
        if found is None or found.module() is not module:
            self._search(module)
            found = self._known[id(module)]
        return found

    def _search(self, module: Any) -> None:
        """Note a module, and all that are found on the way to it."""
        for _, known in self.calls:
            self._take_in(known.top or known)
        if not self._has(module):
            for name, value in tops(self.tape.namespace):
                if any(found is module for _, found in walk(value)):
                    self._take_in(
                        self._known[id(value)] if self._has(value) else KnownModule(value, None, "", name)
                    )
                    break
        if not self._has(module):
            self._known[id(module)] = KnownModule(module, None, "", "")

    def _has(self, module: Any) -> bool:
        found = self._known.get(id(module))
        return found is not None and found.module() is module

    def _take_in(self, top: KnownModule) -> None:
        """Note a module and what it contains."""
        for way, module in walk(top.module()):
            if not self._has(module):
                self._known[id(module)] = KnownModule(module, top, way, "") if way else top


def callee(text: str) -> str:
    """What a call calls, if that is a plain name, `self.net`; else ""."""
    call = parse_expression(text)
    if not isinstance(call, ast.Call) or not all(isinstance(node, PLAIN) for node in ast.walk(call.func)):
        return ""
    return ast.unparse(call.func)


def held_by(value: Any) -> dict[str, Any]:
    """The `__dict__` of an object, without asking its own `__getattr__`; empty if it has none."""
    try:
        inside = object.__getattribute__(value, "__dict__")
    except AttributeError as missing:
        pass_on(missing)
        return {}
    return inside if type(inside) is dict else {}


def is_module(value: Any) -> bool:
    """Whether a value is a module of one of the libraries."""
    inside = held_by(value)
    return "_parameters" in inside and "_modules" in inside


def tops(namespace: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The modules among the variables, in lists and dictionaries of them, and in plain objects; those that
    IPython keeps in `Out` last."""
    held = sorted(variables(namespace), key=lambda each: each[0] == "Out")  # stable
    for name, value in held:
        yield from modules_in(name, value)
    for name, value in held:
        for way, each in list(tensors_inside(name, value)) if type(value) not in (list, tuple, dict) else ():
            yield from modules_in(way, each)


def modules_in(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """A value that is a module, or those in a list or a dictionary."""
    if is_module(value):
        yield name, value
    elif type(value) in (list, tuple, dict):
        held = itertools.islice(tensors_inside(name, value), LISTED)
        yield from ((way, each) for way, each in held if is_module(each))


def walk(module: Any) -> Iterator[tuple[str, Any]]:
    """A module (with an empty name) and all inside it, each once, with the way to it."""
    todo, seen = [("", module)], {id(module)}
    for way, each in todo:  # grows while it is read
        yield way, each
        for name, inner in held_by(each).get("_modules", {}).items():
            if inner is not None and id(inner) not in seen:
                seen.add(id(inner))
                todo.append((f"{way}.{name}" if way else name, inner))


def parameters(module: Any) -> Iterator[tuple[str, Any]]:
    """A module's own parameters."""
    return ((name, t) for name, t in held_by(module).get("_parameters", {}).items() if is_tensor(t))


def sizes(module: Any) -> str:
    """The sizes that tell a layer from another of its kind: `2→4`, `3→8, 3×3`; "" where it has none."""
    held = held_by(module)
    for ends in (("in_features", "out_features"), ("num_embeddings", "embedding_dim")):
        a, b = map(held.get, ends)
        if isinstance(a, int) and isinstance(b, int):
            return f"{a}→{b}"
    a, b, kernel = map(held.get, ("in_channels", "out_channels", "kernel_size"))
    if isinstance(a, int) and isinstance(b, int) and isinstance(kernel, tuple):
        return f"{a}→{b}, {'×'.join(map(str, kernel))}"
    return ""


MANY = 2000  # values that are looked at
DEEP = 6  # values inside values


def held_tensors(namespace: dict[str, Any]) -> list[tuple[str, Any]]:
    """Tensors with the way to each: `params[0]`, `n.w[0]`. Ways through attributes come first, because a list
    often collects what objects hold; then the shorter ones."""
    found = []
    todo = [(name, value, 0) for name, value in variables(namespace)]
    seen = {id(value) for _, value, _ in todo}
    for name, value, depth in todo:  # grows while it is read
        if is_tensor(value):
            if depth and has_history(value):
                found.append((name, value))
        elif depth < DEEP:
            inner = [
                each for each in tensors_inside(name, value) if id(each[1]) not in seen or is_tensor(each[1])
            ]
            inner = inner[: max(0, MANY - len(todo))]
            seen.update(id(each) for _, each in inner)
            todo += [(way, each, depth + 1) for way, each in inner]
    return sorted(found, key=lambda each: "." not in each[0])


def tensors_inside(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """What a list, a dictionary or an object of the user's holds, with the way to each."""
    if type(value) in (list, tuple):
        yield from ((f"{name}[{i}]", each) for i, each in enumerate(value[:MANY]))
    elif type(value) is dict:
        yield from ((f"{name}[{key!r}]", each) for key, each in value.items() if type(key) in (str, int))
    elif type(value).__module__ == "__main__" and not is_module(value):
        yield from ((f"{name}.{key}", each) for key, each in variables(held_by(value)))


def loop_variables(tree: ast.Module | None) -> set[str]:
    """The variables over which a cell loops: other names for what something else holds."""
    nodes = () if tree is None else ast.walk(tree)
    targets = (node.target for node in nodes if isinstance(node, ast.For))
    return {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}
