"""A program as several cells of one notebook, without a shell; and the code of a fix applied to its cells."""

from __future__ import annotations

import ast
import contextlib
import difflib
import io
import linecache
import re
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

from minigrad_viz.explaining.diagnosis import explanations_of
from minigrad_viz.explaining.notebook import explanations_in
from minigrad_viz.model.scene import Scenes
from minigrad_viz.recording.recorder import Recorder
from minigrad_viz.shell.first_writes import written_first
from minigrad_viz.shell.session import Session
from minigrad_viz.trace.graph import Explanation

CODE = re.compile("`([^`]+)`")
INSTEAD = re.compile(
    r"(?:In (?:In \[(\d+)\], )?line (\d+), )?write `([^`]+)` instead of `([^`]+)`", re.IGNORECASE
)
AFTER = re.compile(r"after (?:In \[(\d+)\], )?line (\d+), add `([^`]+)`", re.IGNORECASE)
CUT_AFTER = re.compile(r"after .*?\((?:In \[(\d+)\], )?line (\d+)\), cut .*?: `([^`]+)`", re.IGNORECASE)
PLACE = re.compile(r"(?:In \[(\d+)\], )?line (\d+)", re.IGNORECASE)
ALIKE = 0.55  # of the text of a statement and of the code that is to stand there


class Notebook(NamedTuple):
    """Cells that ran, up to the one that failed: their variables, the error ("" for none), what was explained
    of each, and its number."""

    names: dict[str, Any]
    error: str
    told: list[tuple[int, Explanation]]


def split(program: str, count: int) -> list[str]:
    """A program as that many cells, cut between statements of the top level."""
    body = ast.parse(program).body
    lines = program.splitlines(keepends=True)
    count = min(count, len(body))
    starts = [body[len(body) * k // count] for k in range(count)]
    at = [min([s.lineno, *(d.lineno for d in getattr(s, "decorator_list", ()))]) - 1 for s in starts]
    at[0] = 0
    return ["".join(lines[a:b]) for a, b in zip(at, [*at[1:], len(lines)], strict=True)]


def run_cells(cells: Sequence[str], library: Any) -> Notebook:
    """Run cells one after the other, each recorded and explained as in a notebook."""
    space: dict[str, Any] = {"torch": library, "__name__": "__main__"}
    session, sources, told, error = Session(), dict[str, str](), [], ""
    for number, cell in enumerate(cells, 1):
        file = f"<cell {number} of {id(space)}>"
        linecache.cache[file] = len(cell), None, cell.splitlines(keepends=True), file
        recorder = Recorder(cell, space)
        session.begin(recorder)
        recorder.bring(written_first(cell, space))
        raised = None
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            recorder.start()
            try:
                exec(compile(cell, file, "exec"), space)
            except Exception as problem:
                raised = problem
            finally:
                trace = recorder.stop(raised)
        joined = session.end(recorder, trace, f"In [{number}]", dict(sources))
        alone = Scenes(trace)
        found = explanations_of(alone, "en") if joined is None else explanations_in(alone, joined, "en")
        told += [(number, each) for each in found]
        sources[f"In [{number}]"] = cell
        if raised is not None:
            error = f"{type(raised).__name__}: {raised}"
            break
    return Notebook(space, error, told)


def cured_cells(cells: Sequence[str], number: int, explained: Explanation) -> list[str] | None:
    """The cells with the first code of a fix applied, as its sentence says it; None if it shows no code, or
    one of which nobody can say where it goes. `number` is the cell that the explanation stands below."""
    fix = explained.fix
    codes = CODE.findall(fix)
    if not codes:
        return None
    sentences = (explained.fix, explained.why)
    places = [(int(cell or number), int(line)) for each in sentences for cell, line in PLACE.findall(each)]
    for span in (explained.cause, explained.span):
        if span is not None and not span.origin:
            places.append((number, span.line))
    if added := AFTER.search(fix) or CUT_AFTER.search(fix):
        return inserted(cells, (int(added[1] or number), int(added[2])), added[3], after=True)
    if swaps := INSTEAD.findall(fix):
        for cell, line, new, old in swaps[: 2 if "differ too" in explained.why else 1]:
            cells = swapped(cells, (int(cell or number), int(line)) if line else places[0], old, new)
        return list(cells)
    code = codes[0]
    for place in places:
        new = (
            without_loop(cells, place, code)
            if "Instead of the loop" in fix
            else with_code(cells, place, code)
        )
        if new is not None:
            return with_then(new, place, fix, codes)
    after = re.search(r"Call `[^`]+` after ", fix) is not None
    return inserted(cells, places[0], code, after) if places else None


def with_then(cells: list[str], place: tuple[int, int], fix: str, codes: Sequence[str]) -> list[str]:
    """The cells with the second code as well, if the sentence says that it comes then."""
    return inserted(cells, place, codes[1], after=True) if "Then " in fix and len(codes) > 1 else cells


def with_cell(cells: Sequence[str], number: int, text: str) -> list[str]:
    return [text if place == number else cell for place, cell in enumerate(cells, 1)]


def swapped(cells: Sequence[str], place: tuple[int, int], old: str, new: str) -> list[str]:
    """The cells with another text at a place, or after it."""
    lines = cells[place[0] - 1].splitlines(keepends=True)
    head, tail = "".join(lines[: place[1] - 1]), "".join(lines[place[1] - 1 :])
    assert old in tail, f"{old!r} stands in {tail!r}"
    return with_cell(cells, place[0], head + tail.replace(old, new, 1))


def with_code(cells: Sequence[str], place: tuple[int, int], code: str) -> list[str] | None:
    """The cells with code at a place: instead of the statement there if it is like it, instead of an
    expression in it, or before it as the head of a block. None if it does not belong there."""
    if not 0 < place[0] <= len(cells):
        return None
    cell = cells[place[0] - 1]
    statement = statement_at(cell, place[1])
    if statement is None:
        return None
    lines = cell.splitlines(keepends=True)
    first, end = lines[statement.lineno - 1].encode(), statement.end_lineno or statement.lineno
    indent = first[: statement.col_offset].decode()
    if code.startswith("def ") and code.endswith(":") and isinstance(statement, ast.FunctionDef):
        lines[statement.lineno - 1 : statement.body[0].lineno - 1] = [f"{indent}{code}\n"]
        return with_cell(cells, place[0], "".join(lines))
    if code.endswith(":"):
        body = "".join(f"    {line}" for line in lines[statement.lineno - 1 : end])
        return with_cell(
            cells,
            place[0],
            "".join([*lines[: statement.lineno - 1], f"{indent}{code}\n", body, *lines[end:]]),
        )
    tree = ast.parse(code).body
    inner = tree[0].body[0] if isinstance(tree[0], ast.With) else tree[-1]
    alone = isinstance(statement, ast.Assign) and isinstance(tree[-1], ast.Expr)
    alone = alone and ast.unparse(statement.value) == ast.unparse(tree[-1].value)
    if isinstance(tree[-1], ast.Expr) and not alone and not is_call_of_same(statement, tree[-1]):
        return with_expression(cells, place[0], statement, tree[-1].value)
    same = isinstance(tree[-1], ast.Expr) or is_like(statement, inner)
    if hasattr(statement, "body") or not same:
        return None
    tail = lines[end - 1].encode()[statement.end_col_offset :].decode()
    lines[statement.lineno - 1 : end] = [indent + code + tail]
    return with_cell(cells, place[0], "".join(lines))


def without_loop(cells: Sequence[str], place: tuple[int, int], code: str) -> list[str] | None:
    """The cells with code instead of the loop around a place; None if there is none."""
    cell = cells[place[0] - 1]
    loops = [node for node in ast.walk(ast.parse(cell)) if isinstance(node, ast.For)]
    around = [loop for loop in loops if loop.lineno <= place[1] <= (loop.end_lineno or 0)]
    if not around:
        return None
    lines, last = cell.splitlines(keepends=True), around[-1]
    lines[last.lineno - 1 : last.end_lineno] = [f"{' ' * last.col_offset}{code}\n"]
    return with_cell(cells, place[0], "".join(lines))


def is_call_of_same(statement: ast.stmt, other: ast.Expr) -> bool:
    """Whether both are calls of the same function."""
    calls = [getattr(each, "value", None) for each in (statement, other)]
    return (
        isinstance(statement, ast.Expr)
        and all(isinstance(call, ast.Call) for call in calls)
        and (ast.dump(calls[0].func) == ast.dump(calls[1].func))
    )


def is_like(statement: ast.stmt, other: ast.stmt) -> bool:
    """Whether two statements do the same in two ways: they have the same target, or much of the text."""
    targets = [targets_of(each) for each in (statement, other)]
    if all(targets):
        return targets[0] == targets[1]
    return likeness(ast.unparse(statement), ast.unparse(other)) >= ALIKE


def targets_of(statement: ast.stmt) -> list[str]:
    """What a statement gives a value to."""
    if isinstance(statement, ast.Assign):
        return [ast.unparse(target) for target in statement.targets]
    return [ast.unparse(statement.target)] if isinstance(statement, ast.AugAssign) else []


def likeness(a: str, b: str) -> float:
    return difflib.SequenceMatcher(None, a, b, autojunk=False).ratio()


def with_expression(
    cells: Sequence[str], number: int, statement: ast.stmt, new: ast.expr
) -> list[str] | None:
    """The cells with an expression instead of the one in a statement that is most like it."""
    cell, code = cells[number - 1], ast.unparse(new)
    parts = [part for part in ast.walk(statement) if isinstance(part, ast.expr)]
    same = [part for part in parts if operation(part) and operation(part) == operation(new)]
    best = max(same or parts, key=lambda part: likeness(ast.unparse(part), code), default=None)
    if best is None or (not same and likeness(ast.unparse(best), code) < ALIKE):
        return None
    lines = cell.encode().splitlines(keepends=True)
    head = b"".join(lines[: best.lineno - 1]) + lines[best.lineno - 1][: best.col_offset]
    end = best.end_lineno or best.lineno
    tail = lines[end - 1][best.end_col_offset :] + b"".join(lines[end:])
    return with_cell(cells, number, head.decode() + code + tail.decode())


def operation(tree: ast.expr) -> str:
    """The function that an expression calls, or its operator; "" for any other one."""
    if isinstance(tree, ast.Call):
        return ast.unparse(tree.func)
    return type(tree.op).__name__ if isinstance(tree, ast.BinOp) else ""


def statement_at(cell: str, line: int) -> ast.stmt | None:
    """The innermost statement of a line."""
    found = [
        node
        for node in ast.walk(ast.parse(cell))
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    return max(found, key=lambda node: (node.lineno, node.col_offset), default=None)


def inserted(cells: Sequence[str], place: tuple[int, int], code: str, after: bool = False) -> list[str]:
    """The cells with code before the statement at a place, or after it, as far to the right."""
    number, line = place
    lines = cells[number - 1].splitlines(keepends=True)
    statement = statement_at(cells[number - 1], line)
    assert statement is not None
    first = lines[statement.lineno - 1]
    indent = first[: len(first) - len(first.lstrip())]
    at = (statement.end_lineno or line) if after else statement.lineno - 1
    if not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    return with_cell(cells, number, "".join([*lines[:at], f"{indent}{code}\n", *lines[at:]]))
