"""What a cell writes to before it reads it, or only writes to: its earlier state must be noted in time."""

from __future__ import annotations

import ast
import inspect
import itertools
import re
import textwrap
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..isolation import pass_on
from ..protocol import is_tensor
from ..recording.error_frames import NOTHING, member
from ..recording.modules import is_module, parameters, walk
from ..trace.source_positions import SourceText

PARAMETERS = 12  # of a module, that are read before a cell runs
LISTING = ("parameters", "named_parameters")
WRITING = ("zero_grad", "load_state_dict", "apply")  # methods of modules


def written_first(source: str, namespace: dict[str, Any]) -> list[tuple[str, Any]]:
    """The tensors of earlier cells that a cell writes to in place before it reads them otherwise, and those
    whose gradients it reads; each with the way to it, `c.h` or `hs[1]`, and "" for one inside a module."""
    read, found = set[str](), dict[int, tuple[str, Any]]()
    tree = SourceText(source).tree
    body = () if tree is None else tuple(plain_statements(tree.body))
    own = {each.name: each for each in body if isinstance(each, ast.FunctionDef)}
    for statement in (each for each in body if not isinstance(each, ast.FunctionDef | ast.ClassDef)):
        for target in (*written_in(statement), *written_by_calls(statement, namespace, own)):
            way = ast.unparse(target)
            value = value_behind(target, namespace) if re.split(r"[.\[]", way)[0] not in read else None
            found |= {id(each): (way if each is value else "", each) for each in tensors_of(value)}
        names = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
        read |= {node.id for node in names}
    return list(found.values())


def tensors_of(value: Any) -> list[Any]:
    """A value that is a tensor, or the first parameters of one that is a module."""
    if is_tensor(value):
        return [value]
    inside = (t for _, each in walk(value) for _, t in parameters(each)) if is_module(value) else ()
    return list(itertools.islice(inside, PARAMETERS))


def plain_statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a block, and of those in `with` blocks."""
    for statement in body:
        if isinstance(statement, ast.With):
            yield from plain_statements(statement.body)
        else:
            yield statement


def written_by_calls(
    statement: ast.stmt, namespace: dict[str, Any], own: Mapping[str, ast.FunctionDef]
) -> Iterator[ast.expr]:
    """What a loop over the parameters of a module writes to, a method of a module, a function that is given
    parameters, and a function of the user's, perhaps of the cell's `own`: that is the module, or an argument.
    """
    match statement:
        case ast.For(target=variables, iter=ast.Call(func=ast.Attribute(value=owner, attr=way))):
            names = {part.id for part in ast.walk(variables) if isinstance(part, ast.Name)}
            inner = (target for each in plain_statements(statement.body) for target in written_in(each))
            if way in LISTING and any(ast.unparse(target) in names for target in inner):
                yield owner
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner, attr=way))) if (
            way in WRITING or way.endswith("_")
        ):
            yield owner
    for call in (part for part in ast.walk(statement) if isinstance(part, ast.Call)):
        for argument in call.args:
            match argument:
                case ast.Call(func=ast.Attribute(value=owner, attr="parameters")):
                    yield owner
        function = own.get(ast.unparse(call.func)) or definition_of(
            value_behind(call.func, namespace), namespace
        )
        places = set[int]() if function is None else written_arguments(function)
        yield from (each for i, each in enumerate(call.args) if i in places)


def definition_of(function: Any, namespace: dict[str, Any]) -> ast.FunctionDef | None:
    """The definition of a function of an earlier cell; None for any other one."""
    if not isinstance(function, types.FunctionType) or function.__globals__ is not namespace:
        return None
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    except (OSError, TypeError, SyntaxError) as refused:  # its source is not known
        pass_on(refused)
        return None
    return tree if isinstance(tree, ast.FunctionDef) else None


def written_arguments(tree: ast.FunctionDef) -> set[int]:
    """Which arguments a function writes to in place, as its source says."""
    names = [each.arg for each in tree.args.args]
    written = (target for each in plain_statements(tree.body) for target in written_in(each))
    return {names.index(name) for target in written if (name := ast.unparse(target)) in names}


def written_in(statement: ast.stmt) -> Iterator[ast.expr]:
    """What a statement writes to in place: `c` of `c += 1`, `c[0] = 5`, `c.mul_(2)`,
    `init.zeros_(c)` and `relu(c, inplace=True)`; and `c` of `c.grad`, which no operation reads."""
    targets: list[ast.expr] = []
    if isinstance(statement, ast.AugAssign):
        targets = [statement.target]
    elif isinstance(statement, ast.Assign):
        targets = [t for t in statement.targets if isinstance(t, ast.Subscript | ast.Attribute)]
        targets = [t.value if isinstance(t, ast.Attribute) else t for t in targets]
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        if isinstance(call.func, ast.Attribute) and call.func.attr.endswith("_"):
            targets = [call.func.value, *call.args[:1]]
    inner = (part for part in ast.walk(statement) if isinstance(part, ast.Call) and part.args)
    targets += [call.args[0] for call in inner if any(each.arg == "inplace" for each in call.keywords)]
    targets += [
        part.value for part in ast.walk(statement) if isinstance(part, ast.Attribute) and reads_grad(part)
    ]
    for target in targets:
        while isinstance(target, ast.Subscript) or (
            isinstance(target, ast.Attribute) and target.attr == "data"
        ):
            if isinstance(target, ast.Subscript):  # perhaps of a list
                yield target
            target = target.value
        yield target


def reads_grad(part: ast.Attribute) -> bool:
    """Whether an attribute is the gradient of something, and is read."""
    return part.attr == "grad" and isinstance(part.ctx, ast.Load)


def value_behind(target: ast.expr, namespace: dict[str, Any]) -> Any:
    """What a name, attributes of one, or items of a list or dictionary stand for; None where that would run
    code."""
    if isinstance(target, ast.Name):
        return namespace.get(target.id)
    if isinstance(target, ast.Attribute):
        owner = value_behind(target.value, namespace)
        found = None if owner is None else member(owner, target.attr)
        return None if found is NOTHING else found
    if isinstance(target, ast.Subscript):
        owner, key = value_behind(target.value, namespace), key_behind(target.slice, namespace)
        if type(owner) is dict and type(key) in (str, int):
            return owner.get(key)
        if type(owner) in (list, tuple) and type(key) is int and -len(owner) <= key < len(owner):
            return owner[key]
    return None


def key_behind(part: ast.expr, namespace: dict[str, Any]) -> Any:
    """What an index stands for: a number, a text, or the variable that is one."""
    try:
        return namespace.get(part.id) if isinstance(part, ast.Name) else ast.literal_eval(part)
    except (ValueError, TypeError) as refused:  # it is computed
        pass_on(refused)
        return None
