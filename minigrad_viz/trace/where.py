"""Where an operation stands in the user's source: its exact expression, and the variable naming the result.

Nothing of the user's is run or imported for it: frames, bytecode positions and the syntax tree are only read.
"""

import ast
import functools
import itertools
import linecache
from collections.abc import Iterator
from inspect import CO_NEWLOCALS
from types import CodeType, FrameType, TracebackType
from typing import Any

from .source_text import SourceText, range_of
from .spots import Span, Spot, Texts
from .statements import nodes_of

# Modules that work with whole functions of the user's, or compute with tensors for themselves.
INSIDE = (
    "minigrad.autograd.functional", "minigrad.autograd.gradcheck", "minigrad.autograd.run", "minigrad.func",
    "torch.autograd.functional", "torch._functorch", "torch._vmap_internals",
)  # fmt: skip
# Calls of these use tensors several times, in no order that frames tell.
SEVERAL = ("torch.nn.", "minigrad.ops.einsum", *INSIDE)


# How far a call has come: the offset in the function that was called, and in the same way how far the call
# there has come. What comes later is greater.
Reached = tuple[Any, ...]
FIRST = 2**32  # of the numbers of their uses, greater than any offset


@functools.lru_cache(256)
def is_several(module: str) -> bool:
    """Whether the functions of a module are among these."""
    return module.startswith(SEVERAL)


class Locator:
    """Finds the expressions of one traced cell or file.

    Note [Which source a frame belongs to]
    ~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
    A frame's file name does not say what was written there. Under `%%time` every cell is `<timed exec>`, and
    no text is kept; `exec("y = x * 2")` in a cell runs as `<string>` with the same globals; a function of an
    earlier cell lives on after that cell was edited. So a text is believed only if the code *fits* it: where
    the bytecode loads a name or an attribute or applies an operator, the text has that very name or operator
    in those columns. The traced source is tried first, then what `linecache` holds for the file. Code that
    fits neither is passed over for its caller.
    """

    def __init__(self, source: str, namespace: dict):
        """`source`: text of the cell or file, as written or as IPython transformed it (same line numbers);
        `namespace`: globals of the user's frames."""
        self._namespace = namespace
        self._texts = Texts(source)
        self._sources = self._texts.sources
        self._origin_of_file: dict[str, int] = {}
        self._codes: dict[int, tuple[CodeType, int | None, list]] = {}
        self.spots: dict[tuple[int, int], Spot | None] = {}  # by id of the code, and offset
        self._definitions: dict[int, tuple[CodeType, Span | None]] = {}
        self._loops: dict[tuple[int, int], list[ast.For | ast.While]] = {}  # by the same
        self._calls = itertools.count(FIRST)

    def at(self, frame: FrameType | None) -> Spot | None:
        """The point that the nearest frame of the namespace, from `frame` outward, has reached."""
        namespace, spots = self._namespace, self.spots
        while frame is not None:
            if frame.f_globals is namespace:
                # By id: hashing a code object hashes all it holds. `_codes` keeps it, so the id stays.
                key = (id(frame.f_code), frame.f_lasti)
                if key not in spots:
                    spots[key] = self._locate(frame.f_code, frame.f_lasti)
                if (spot := spots[key]) is not None:
                    return spot
            frame = frame.f_back
        return None

    def reach(self, frame: FrameType | None) -> tuple[Spot | None, int | None, Reached]:
        """`at` with the number of the statement at the top level that runs (None: the one that the point
        says), and how far the call that stands there has come."""
        namespace, spots = self._namespace, self.spots
        inner: Reached = ()
        while frame is not None:
            if frame.f_globals is namespace:
                key = (id(frame.f_code), frame.f_lasti)
                spot = spots[key] if key in spots else self.at(frame)
                if spot is not None:
                    return spot, self.top(frame.f_back) if spot.nested else None, inner
            name = frame.f_globals.get("__name__", "")
            several = name.__class__ is str and is_several(name)
            inner = (next(self._calls) if several else frame.f_lasti, inner)
            frame = frame.f_back
        return None, -1, ()

    def counts(self, inner: Reached) -> bool:
        """Whether `reach` said with `inner` only that the call uses tensors once more."""
        while inner:
            offset, inner = inner
            if offset >= FIRST:
                return True
        return False

    def inside(self, frame: FrameType | None) -> bool:
        """Whether what runs here was called for itself by a function of a library that works with whole
        functions, which the user's code has called."""
        name: object = ""
        while frame is not None and frame.f_globals is not self._namespace:
            name = frame.f_globals.get("__name__", "")
            frame = frame.f_back
        return isinstance(name, str) and name.startswith(INSIDE)

    def top(self, frame: FrameType | None) -> int:
        """The number of the statement at the top level that runs now; -1 if it is none of the traced text."""
        while frame is not None:
            if frame.f_globals is self._namespace and not frame.f_code.co_flags & CO_NEWLOCALS:
                spot = self.at(frame)
                if spot is not None and not spot.nested:
                    return spot.top
            frame = frame.f_back
        return -1

    def raised(self, traceback: TracebackType | None) -> tuple[Spot | None, int, FrameType | None]:
        """Where an error was raised: the innermost known point of its traceback, the number of the statement
        at the top level, and the frame of that point."""
        found, top, inner = None, -1, None
        while traceback is not None:
            frame = traceback.tb_frame
            if frame.f_globals is self._namespace:
                spot = self._locate(frame.f_code, traceback.tb_lasti)
                if spot is not None:
                    found, inner = spot, frame
                if spot is not None and not spot.nested and spot.top >= 0:
                    top = spot.top
            traceback = traceback.tb_next
        return found, top, inner

    def frames(self, traceback: TracebackType | None) -> Iterator[Span]:
        """The places of the traced text that a traceback goes through."""
        while traceback is not None:
            spot = None
            if traceback.tb_frame.f_globals is self._namespace:
                spot = self._locate(traceback.tb_frame.f_code, traceback.tb_lasti)
            if spot is not None and not spot.span.origin:
                yield spot.span
            traceback = traceback.tb_next

    def point(self, entry: TracebackType) -> Spot | None:
        """Where one entry of a traceback stands, if its source is known."""
        return self._locate(entry.tb_frame.f_code, entry.tb_lasti)

    def tree(self, origin: int = 0) -> ast.Module | None:
        """The syntax tree of the traced text, or of another by its number in spans, in which a magic is
        `pass`; None if it is no Python."""
        return self._sources[origin].tree

    @functools.cached_property
    def tops(self) -> list[Span | None]:
        """The statements of the traced text at the top level; of those with a block what stands before it.
        None for a cell magic, which is no statement."""
        tree = self.tree()
        spans = [] if tree is None else [self._texts.statement(node) for node in tree.body]
        return [None if span.text.startswith("%%") else span for span in spans]

    def definition(self, code: CodeType) -> Span | None:
        """Where the function with this code is defined, if its text is known."""
        known = self._definitions.get(id(code))
        if known is None:
            known = self._definitions[id(code)] = code, self._definition(code)
        return known[1]

    def loops(self, frame: FrameType) -> list[ast.For | ast.While]:
        """The loops in the code of a frame around the point that it has reached, innermost first."""
        key = id(frame.f_code), frame.f_lasti
        if key not in self._loops:
            spot = self._locate(frame.f_code, frame.f_lasti)
            tree = None if spot is None else self._sources[self._origin(frame.f_code) or 0].tree
            line, first = frame.f_lineno, frame.f_code.co_firstlineno if spot and spot.nested else 0
            nodes = () if tree is None else nodes_of(tree)
            self._loops[key] = [
                node
                for node in nodes
                if isinstance(node, ast.For | ast.While)
                and first <= node.lineno
                and node.body[0].lineno <= line <= (node.body[-1].end_lineno or 0)
            ][::-1]
        return self._loops[key]

    def _definition(self, code: CodeType) -> Span | None:
        origin = self._origin(code)
        source = None if origin is None else self._sources[origin]
        if origin is None or source is None or source.tree is None:
            return None
        for node in ast.walk(source.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == code.co_name:
                first = node.decorator_list[0].lineno if node.decorator_list else node.lineno
                if first == code.co_firstlineno:
                    return self._texts.span(range_of(node), origin)
        return None

    def _locate(self, code: CodeType, lasti: int) -> Spot | None:
        if id(code) not in self._codes:
            self._codes[id(code)] = (code, self._origin(code), list(code.co_positions()))
        _, origin, positions = self._codes[id(code)]
        if origin is None or lasti < 0:
            return None
        line, end_line, column, end_column = positions[lasti // 2]  # one entry per code unit of two bytes
        source = self._sources[origin]
        if line is None or not 1 <= line <= len(source.lines):
            return None
        nested = bool(code.co_flags & CO_NEWLOCALS)
        return Spot(self._texts, origin, id(code), lasti, nested, (line, end_line, column, end_column))

    def _origin(self, code: CodeType) -> int | None:
        """The number of the source that `code` was compiled from, or None if its text is not known."""
        file = code.co_filename
        if self._sources[0].fits(code):
            return 0
        if file not in self._origin_of_file:
            lines = linecache.getlines(file)
            if not lines:
                return None
            self._origin_of_file[file] = len(self._sources)
            self._sources.append(SourceText("".join(lines)))
        origin = self._origin_of_file[file]
        return origin if self._sources[origin].fits(code) else None
