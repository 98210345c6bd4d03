"""Which parameters and defaults each public name takes.

A line is `namespace<TAB>name<TAB>parameters`, as `help` shows them without annotations, or `= type` for what
is not called. A signature may change where everything that it accepted is still accepted, where it becomes
PyTorch's own, or where `CHANGED` says why.
"""

from __future__ import annotations

import ast
import inspect
import re
from typing import Any

from .names import find, public
from .store import read, write

NAME = "signatures.txt"
OF_SIZE = "shown as PyTorch documents it, with *size; size=(2, 3) is still accepted"
CHANGED: dict[tuple[str, str], str] = {  # (namespace, name) → why another signature is right
    **{("torch", name): OF_SIZE for name in ("zeros", "ones", "empty", "rand", "randn")},
    ("torch", "randint"): "PyTorch documents low=0, and that is what was done without it",
    ("torch", "sort"): "the default of stable was shown as an object without a name",
    ("Tensor", "sort"): "the same",
    ("Tensor", "cholesky_solve"): "the first parameter of a method is the tensor itself",
    ("Tensor", "copy_"): "by name PyTorch takes only other, although it documents src",
    ("nn", "RNNBase"): "which network it is says the class, an attribute `mode`",
    ("nn", "RNNCellBase"): "the same, and how many gates",
    ("nn", "LSTM"): "proj_size=None means 0; RNN and GRU, which refuse one, have the same signature",
    ("torch", "threshold"): "in place is nn.functional.threshold only, as in PyTorch",
    ("linalg", "matmul"): "its operands are named as in torch.matmul",
}
THE_TENSOR = ("self", "input")  # the first parameter of a method, and of a function


def parameters_of(thing: Any) -> str:
    """The parameters of a function or class without annotations; the type of what is no function."""
    if not callable(thing):
        return f"= {type(thing).__name__}"
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return "(…)"
    parameters = [p.replace(annotation=p.empty, default=default_of(p)) for p in signature.parameters.values()]
    return str(signature.replace(parameters=parameters, return_annotation=signature.empty))


class Shown(str):
    """A default that shows as text which can be read as Python."""

    def __repr__(self) -> str:
        return str(self)


def default_of(parameter: inspect.Parameter) -> Any:
    """A default without an address in memory, and with one library's name."""
    value = parameter.default
    if value is parameter.empty or isinstance(value, (int, float, bool, str, tuple, list, type(None))):
        return value
    return Shown(repr(re.sub(r" at 0x\w+", "", repr(value)).replace("minigrad", "torch")))


def parsed(text: str) -> ast.arguments | None:
    """The parameters that a text shows; None where any are taken."""
    try:
        function = ast.parse(f"def f{text}: pass").body[0]
    except SyntaxError:
        return None
    assert isinstance(function, ast.FunctionDef)
    return function.args


def parameters(given: ast.arguments) -> dict[str, str | None]:
    """Name → default as text, or None where there is none."""
    placed = [*given.posonlyargs, *given.args]
    values: dict[str, str | None] = dict.fromkeys((a.arg for a in placed), None)
    for argument, default in zip(reversed(placed), reversed(given.defaults), strict=False):
        values[argument.arg] = ast.unparse(default)
    for argument, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        values[argument.arg] = None if default is None else ast.unparse(default)
    return values


def refused(before: str, now: str) -> str:
    """What a signature accepted and another does not; empty if there is nothing."""
    if before == now or before == "(…)":
        return ""
    if before.startswith("="):
        return f"{now} for {before}"
    old, new = parsed(before), parsed(now)
    if old is None or new is None:
        return f"{now} for {before}"
    if all(p.args and p.args[0].arg in THE_TENSOR for p in (old, new)):
        new.args[0].arg = old.args[0].arg
    had, has = parameters(old), parameters(new)
    for name, default in had.items():
        if name not in has:
            return f"the parameter {name} of {before} is not in {now}"
        if default is not None and has[name] != default:
            return f"the default of {name} is {has[name]}, {default} in {before}"
    added = [name for name, default in has.items() if name not in had and default is None]
    if added and old.vararg is None:
        return f"{added[0]} is required in {now}, and not in {before}"
    return moved(old, new, before, now)


def moved(old: ast.arguments, new: ast.arguments, before: str, now: str) -> str:
    """Which parameter can no longer be given at its place."""
    places = [a.arg for a in (*new.posonlyargs, *new.args)]
    for i, argument in enumerate((*old.posonlyargs, *old.args)):
        if places[i : i + 1] != [argument.arg] and not (new.vararg and i >= len(places)):
            return f"{argument.arg} does not stand at its place in {now}: {before}"
    return ""


def is_pytorchs(name: str, now: str) -> bool:
    """Whether the parameters of a signature are those that PyTorch documents for the name."""
    import torch

    try:
        theirs = find(torch, name)
    except AttributeError:
        return False
    new = parsed(now)
    return new is not None and any(list(parameters(new)) == names for names in documented(theirs))


def documented(theirs: Any) -> list[list[str]]:
    """Names of the parameters in each form that PyTorch documents."""
    texts = re.findall(r"^\s*(?:\w+\.)*\w+(\([^\n]*\))(?: ->.*)?$", theirs.__doc__ or "", re.M)
    if (text := parameters_of(theirs)) != "(…)":
        texts.append(text)
    forms = [parsed(re.sub(r"\bTensor (?=\w)", "", text)) for text in texts]
    found = [list(parameters(form)) for form in forms if form is not None]
    return [*found, *(["self", *names] for names in found)]


def lines() -> list[str]:
    return [f"{space}\t{name}\t{parameters_of(thing)}" for space, name, thing in public()]


def make() -> None:
    write(NAME, lines())


def recorded() -> dict[str, dict[str, str]]:
    """Namespace → name → signature."""
    found: dict[str, dict[str, str]] = {}
    for line in read(NAME):
        space, name, text = line.split("\t")
        found.setdefault(space, {})[name] = text
    return found
