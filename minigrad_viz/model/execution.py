"""Which parts of a cell have run, as far as its recording shows: its statements, and the calls of modules.

Note [What ran]
    A text alone proves nothing: a function that nothing called, a branch that was not taken. No
    line is traced, as that would slow down all of the cell. The recording knows the places of its events, and
    of an error the places of its traceback. Python runs a block from top to bottom, so more follows:

    - What is around such a place has begun, and what is before it in these blocks has ended.
    - A statement that cannot leave its block is followed by the next one. An error would leave it too, but
      ends the cell, unless something there catches errors.
    - A function that the cell defines once runs where the cell calls it by its name, and so does `__init__`.
    - What a method reads of `self` was set, if only one statement of its class does that.

    Of the rest nobody knows, and no rule may speak of it. So rules look for what they blame among the parts
    that ran (`Case.executed`). They read the whole text (`Case.syntax`) only to be sure that something is
    there just once.
"""

from __future__ import annotations

import ast
import functools
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ..trace.events import CellFailed, ModuleCalled, ModuleReturned, of_kinds
from ..trace.source_positions import SourceText, Span, range_of
from ..trace.statements import Range, evaluated_parts, find, is_within, named_blocks, nodes_of

# ─── Which parts of a cell have run, as far as its recording shows


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LEAVING = (ast.Return, ast.Raise, ast.Yield, ast.YieldFrom, ast.Await)  # they end a block, or hold it up
QUIET = (
    "autocast", "catch_warnings", "detect_anomaly", "device", "dual_level", "enable_grad", "errstate",
    "fork_rng", "inference_mode", "no_grad", "open", "profile", "record_function", "redirect_stdout",
    "save_on_cpu", "saved_tensors_hooks", "set_detect_anomaly", "set_grad_enabled", "tqdm",
)  # fmt: skip  # context managers that catch no errors


class Position(NamedTuple):
    """Where a statement is: its block and its place there, the field (`body`, `orelse` …) of the
    statement `owner` that the block is (None: the cell itself), and the function around it."""

    block: list[ast.stmt]
    place: int
    owner: ast.stmt | None
    field: str
    function: ast.AST | None


class Execution:
    """Finds what ran of a source by the events of its recording."""

    def __init__(self, source: SourceText, events: Iterable[Any]) -> None:
        self._source = source
        self._tree = source.tree or ast.Module([], [])
        self._parts = {id(self._tree)}
        self._begun: dict[int, bool] = {}  # by id of the statement; True if it has ended, too
        self._todo: list[ast.stmt] = []
        self._stopped: set[int] = set()  # statements that were left by the error
        self._places, self._frames = self._read(events)
        for place in self._frames:
            self._stop(place)
        for place in (*self._places, *self._frames):
            found = find(self._tree, *place[:2])
            if found is not None:
                self._add(found.statement)
        last = self._tree.body[-1:]
        self._whole = bool(self._frames) or all(id(statement) in self._begun for statement in last)
        while self._todo:
            self._follow(self._todo.pop())

    def ran(self, part: ast.AST) -> bool:
        """Whether a part of the source is known to have run."""
        return id(part) in self._parts

    def _read(self, events: Iterable[Any]) -> tuple[set[Range], set[Range]]:
        """The places of the events in the source, and those of the error's traceback, in bytes."""
        spans, frames = set[Range](), set[Range]()
        for event in events:
            span: Span | None = event.span
            if span is not None and not span.origin:
                spans.add(span[:4])
        for failed in of_kinds(events, CellFailed):
            inner = (*failed.frames, failed.span)
            frames.update(each[:4] for each in inner if each is not None and not each.origin)
        return set(map(self._source.in_bytes, spans)), set(map(self._source.in_bytes, frames))

    def _stop(self, place: Range) -> None:
        """The error has left the statements around a place."""
        found = find(self._tree, *place[:2])
        statement = None if found is None else found.statement
        while statement is not None:
            self._stopped.add(id(statement))
            statement = self._positions[id(statement)].owner

    # ── what follows ────────────────────────────────────────────────────────────────────────────────────────

    def _add(self, statement: ast.stmt, ended: bool = False) -> None:
        """A statement has begun, and maybe ended."""
        known = self._begun.get(id(statement))
        if known is None or (ended and not known):
            self._begun[id(statement)] = ended
            self._todo.append(statement)

    def _follow(self, statement: ast.stmt) -> None:
        """Add what must have run if a statement has."""
        block, place, owner, field, function = self._positions[id(statement)]
        if place:
            self._add(block[place - 1], ended=True)
        if owner is not None:
            self._add(owner)
            if isinstance(owner, ast.Try) and field == "orelse":
                self._add(owner.body[-1], ended=True)
        passed = self._begun[id(statement)] or self._passes(statement)
        parts = list(evaluated_parts(statement, self._is_seen))
        self._parts.update(map(id, parts))
        for part in (part for part in parts if isinstance(part, ast.Call | ast.Attribute)):
            if passed or self._before_error(part):
                self._enter(part) if isinstance(part, ast.Call) else self._set(part, function)
        if passed:
            ended = self._begun[id(statement)] or not may_leave_block(statement)
            for inner, whole in inevitable_blocks(statement):
                self._add(inner[-1] if ended and whole else inner[0], ended and whole)
            if ended and place + 1 < len(block):
                self._add(block[place + 1])

    def _passes(self, statement: ast.stmt) -> bool:
        """Whether no error can have left a statement that has begun."""
        if not self._whole or id(statement) in self._stopped:
            return False
        at = self._positions[id(statement)]
        if at.function is not None:
            return not self._catching
        while at.owner is not None:
            if at.field == "body" and catches(at.owner):
                return False
            at = self._positions[id(at.owner)]
        return True

    def _is_seen(self, part: ast.AST) -> bool:
        """Whether an event is in an expression that may be left out."""
        where = range_of(part) if hasattr(part, "end_col_offset") else None  # `for x in y` has no place
        return where is not None and any(is_within(place, where) for place in (*self._places, *self._frames))

    def _before_error(self, part: ast.AST) -> bool:
        """Whether an expression is part of a larger one that failed, so that its value was there."""
        where = range_of(part)
        return any(where != place and is_within(where, place) for place in self._frames)

    def _enter(self, call: ast.Call) -> None:
        """Add what a call that returned ran of a function, or of a class, that the cell defines once."""
        name = getattr(call.func, "id", None)
        if isinstance(call.func, ast.Attribute) and getattr(call.func.value, "id", None) in self._modules:
            name = call.func.attr
        found = None if name is None else self._definitions.get(name)
        if isinstance(found, ast.ClassDef):
            methods = [part for part in found.body if getattr(part, "name", "") == "__init__"]
            found = methods[0] if len(methods) == 1 else None
        if isinstance(found, ast.FunctionDef) and not found.decorator_list and not is_generator(found):
            for statement in found.body:
                self._add(statement, ended=not may_leave_block(statement))
                if may_leave_block(statement):
                    break

    def _set(self, read: ast.Attribute, method: ast.AST | None) -> None:
        """Add what must have given an attribute of `self` its value that a method has read."""
        made = self._attributes.get(read.attr, [])
        if len(made) == 1 and isinstance(read.value, ast.Name) and read.value.id == "self":
            other = self._positions[id(made[0])].function
            owners = [at.owner for f in (method, other) if (at := self._positions.get(id(f))) is not None]
            if len(owners) == 2 and owners[0] is owners[1] is not None:
                self._add(made[0])

    # ── the source ──────────────────────────────────────────────────────────────────────────────────────────

    @functools.cached_property
    def _positions(self) -> dict[int, Position]:
        """Where each statement is, by its id."""
        found: dict[int, Position] = {}
        todo: list[tuple[list[ast.stmt], ast.stmt | None, str, ast.AST | None]] = [
            (self._tree.body, None, "body", None)
        ]
        for block, owner, field, function in todo:  # grows while it is read
            for place, statement in enumerate(block):
                found[id(statement)] = Position(block, place, owner, field, function)
                inner = statement if isinstance(statement, FUNCTIONS) else function
                todo += [(each, statement, name, inner) for name, each in named_blocks(statement)]
        return found

    @functools.cached_property
    def _catching(self) -> bool:
        """Whether something in the source may catch errors of a function that it calls."""
        return any(catches(node) for node in nodes_of(self._tree))

    @functools.cached_property
    def _attributes(self) -> dict[str, list[ast.stmt]]:
        """The statements that give attributes their values, and the methods that are such, by name."""
        found: dict[str, list[ast.stmt]] = {}
        for statement in nodes_of(self._tree):
            at = self._positions.get(id(statement))
            if at is None or not isinstance(statement, ast.stmt):
                continue
            parts = list(evaluated_parts(statement))
            attributes = (part for part in parts if isinstance(part, ast.Attribute))
            names = {part.attr for part in attributes if isinstance(part.ctx, ast.Store)}
            if isinstance(at.owner, ast.ClassDef):
                names |= {name for part in parts for name in names_bound(part)}
            for name in names:
                found.setdefault(name, []).append(statement)
        return found

    @functools.cached_property
    def _modules(self) -> frozenset[str]:
        """The variables that imports make modules; what one has may be defined in a file of the source."""
        imports = (node for node in nodes_of(self._tree) if isinstance(node, ast.Import))
        return frozenset(name for node in imports for each in node.names for name in names_bound(each))

    @functools.cached_property
    def _definitions(self) -> dict[str, ast.AST]:
        """The functions and classes whose names the source gives to nothing else."""
        count, found = Counter[str](), dict[str, ast.AST]()
        for node in nodes_of(self._tree):
            if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
                if isinstance(self._positions[id(node)].owner, ast.ClassDef):
                    continue  # a method is no variable
                found[node.name] = node
            count.update(names_bound(node))
        return {name: node for name, node in found.items() if count[name] == 1}


def names_bound(node: ast.AST) -> Iterator[str]:
    """The variables to which a part of the source gives a value."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
            yield name
        case ast.alias(name=name, asname=other):
            yield other or name.partition(".")[0]
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name


def catches(node: ast.AST) -> bool:
    """Whether a statement may catch errors of its body: with `except`, or by a context manager that is not
    known."""
    if isinstance(node, ast.With | ast.AsyncWith):
        return not all(manager(item.context_expr) in QUIET for item in node.items)
    return bool(getattr(node, "handlers", ()))


def manager(tree: ast.expr) -> str:
    """The name of a context manager."""
    function = tree.func if isinstance(tree, ast.Call) else tree
    return str(getattr(function, "attr", None) or getattr(function, "id", ""))


def inner_parts(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a statement, without those of functions and classes in it."""
    todo = [node]
    while todo:
        part = todo.pop()
        yield part
        if part is node or not isinstance(part, (*FUNCTIONS, ast.ClassDef, ast.Lambda)):
            todo += ast.iter_child_nodes(part)


def may_leave_block(statement: ast.stmt) -> bool:
    """Whether a statement may end or delay the block that it is in."""
    if isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
        return False
    parts = list(inner_parts(statement))
    loops = [part for part in parts if isinstance(part, ast.For | ast.AsyncFor | ast.While)]
    own = {id(part) for loop in loops for each in loop.body for part in inner_parts(each)}
    jumps = (part for part in parts if isinstance(part, ast.Break | ast.Continue))
    return any(isinstance(part, LEAVING) for part in parts) or any(id(jump) not in own for jump in jumps)


def inevitable_blocks(statement: ast.stmt) -> Iterator[tuple[list[ast.stmt], bool]]:
    """The blocks in a statement that run whenever it does; and whether each has run to its end if the
    statement has."""
    if isinstance(statement, ast.ClassDef):
        yield statement.body, True
    elif isinstance(statement, ast.With | ast.AsyncWith):
        yield statement.body, not catches(statement)
    elif isinstance(statement, ast.Try | ast.TryStar):
        yield statement.body, not catches(statement)
        if statement.finalbody:
            yield statement.finalbody, True


def is_generator(function: ast.FunctionDef) -> bool:
    """Whether a call of a function does not run it yet."""
    return any(isinstance(part, ast.Yield | ast.YieldFrom) for part in inner_parts(function))


# ─── The calls of modules in a trace


def below(path: str, top: str) -> str:
    """The place of a module in the one at `top`: `net.0.conv` in `net.0` is `conv`; elsewhere all of it."""
    return path.removeprefix(f"{top}.") if top else path


class ModuleCall:
    """One call: its event, the call around it (None outside of any), and when it began, counted in events.
    `outputs` are the tensors that it returned."""

    def __init__(self, event: ModuleCalled, around: ModuleCall | None, begin: int) -> None:
        self.event, self.around, self.begin = event, around, begin
        self.outputs: tuple[str, ...] = ()
        self.inputs = set(event.inputs)

    def chain(self) -> list[ModuleCall]:
        """This call and those around it, outermost first."""
        found: list[ModuleCall] = []
        call: ModuleCall | None = self
        while call is not None:
            found.append(call)
            call = call.around
        return found[::-1]


class ModuleCalls:
    """All calls of a trace. `parameters` has, by the id of the tensor, the place of a parameter in its
    module: (path of the module, own name)."""

    def __init__(self, events: Iterable[Any]) -> None:
        self.calls: list[ModuleCall] = []
        self.parameters: dict[str, tuple[str, str]] = {}
        self._times: list[int] = []
        self._inner: list[ModuleCall | None] = []
        stack: list[ModuleCall] = []
        for time, event in enumerate(events):
            match event:
                case ModuleCalled():
                    stack.append(ModuleCall(event, stack[-1] if stack else None, time))
                    self.calls.append(stack[-1])
                    for name, id in event.parameters:
                        self.parameters.setdefault(id, (event.path, name))
                case ModuleReturned():
                    stack.pop().outputs = event.outputs
                case _:
                    continue
            self._times.append(time)
            self._inner.append(stack[-1] if stack else None)

    def at(self, time: int) -> ModuleCall | None:
        """The innermost call that ran when so many events had happened."""
        known = bisect_right(self._times, time)
        return self._inner[known - 1] if known else None
