"""Code is shown as a fix only if it parses, differs from the line that it mends, and did not fail when it was
tried.

Note [How a fix is tried]
~~~~~~~~~~~~~~~~~~~~~~~~~
The code is put into the source, and an interpreter computes the changed program with the numbers that were
recorded. It is believed only if it has first computed the program as it is, and came to the same end: the
recorded error, or none. Then the changed program must not end in that error, nor in another one that is no
later. Where the code may belong in several places, before a line or after it, one of them has to help. What
no interpreter can compute is not tried: see Note [What an interpreter may do].
"""

from __future__ import annotations

import ast
import difflib
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import minigrad

from ..isolation import pass_on
from ..replay.runs import isolated_run
from ..sources.pause import without_recording
from ..trace.events import Event, TensorCreated, TensorState, Trace
from ..trace.graph import Explanation
from ..trace.source_positions import SourceText
from ..trace.statements import find, parse_source
from ..words import text
from .interpreter import CannotTry, Interpreter, leaf_of
from .syntax import is_read, normal_source, targets_of

CODE = re.compile("`([^`]+)`")
LINE = re.compile(r"\bline (\d+)|(\d+)행")
SHOWN = re.compile(r": `[^`]+`")
HEADS = "write_fix", "fitting_sizes_fix", "view_size_fix_at", "one_number_fix_at"  # `Write it like this: …`
LONGEST = 200  # characters of an error that are compared
PARTS = 3  # of a statement in whose place an expression may belong
LIKE = 0.55  # of the text of a statement and of the code that is to stand there


def with_tried_code(
    explained: Explanation,
    trace: Trace,
    source: SourceText,
    lang: str | None = None,
    cells: Sequence[int] = (),
) -> Explanation:
    """An explanation whose fix shows only code that can be typed in, that changes something, and that helps
    where it can be tried. What does not parse, as `x.copy_(…)`, is given in words; a fix that is the line
    as it is, or that does not help, is none. What cannot be tried is said in words.
    `cells` are the lines after which the cells of a notebook begin, if the source has several.
    """
    lines = lines_at(explained, source)
    fix = explained.fix
    codes = CODE.findall(fix)
    for place, code in enumerate(codes):  # the first is what to write
        tree = parse_source(f"{code} pass" if code.endswith(":") else code)  # the head of a block
        if tree is None:
            fix = fix.replace(f"`{code}`", code)
        elif not place and ast.unparse(tree) in lines:
            return explained._replace(fix="")
    explained = explained._replace(fix=fix)
    found = helps(explained, trace, source, cells) if codes else True
    if found is None:
        fix = in_words(fix, lang)
    return explained._replace(fix="" if found is False else fix)


def in_words(fix: str, lang: str | None) -> str:
    """A fix without its code. Where a sentence says nothing without it, the code is given in words, with
    a remark that it was not tried."""
    heads = tuple(text(key, lang, code="", last="").partition(": `")[0] for key in HEADS)

    def cut(found: re.Match[str]) -> str:
        return found[0] if fix[: found.start()].endswith(heads) else ""

    said = SHOWN.sub(cut, fix)
    return said if "`" not in said else f"{said.replace('`', '')} {text('fix_untried', lang)}"


def lines_at(explained: Explanation, source: SourceText) -> set[str]:
    """The statements that failed, or led to what is explained, as `ast` writes them."""
    found = set()
    for span in (explained.span, explained.cause):
        if span is None or span.origin or not 0 < span.line <= len(source.lines):
            continue
        column = len(source.lines[span.line - 1][: span.column].encode())
        place = find(source.tree, span.line, column)
        if place is not None:
            found.add(ast.unparse(place.statement))
    return found


# ─── What comes of a fix


class End(NamedTuple):
    """How a program ended: its error ("" for none), after so many statements."""

    error: str
    statements: int


def helps(explained: Explanation, trace: Trace, source: SourceText, cells: Sequence[int] = ()) -> bool | None:
    """Whether the code of a fix was tried, and helps; None where it cannot be tried."""
    before = outcome_of("\n".join(source.lines), trace, cells)
    if before is None or not same_error(before.error, explained.error or trace.error or ""):
        return None
    certain, ends = True, list[End | None]()
    for change in changes(explained, source):
        moved = change.text.count("\n") + 1 - len(source.lines)
        after = outcome_of(change.text, trace, [line + moved * (line >= change.line) for line in cells])
        unrelated = not explained.error and after is not None and after.error == before.error
        if after is not None and (not after.error or unrelated or is_later(after, before, change)):
            return True
        certain = certain and change.certain
        ends.append(after)
    return False if ends and certain and None not in ends else None


def is_later(after: End, before: End, change: Change) -> bool:
    """Whether a changed program failed at something else, and later, or with another class of error."""
    if not before.error or after.error == before.error:
        return False
    walked = after.statements - (not change.certain)  # the code is a statement more
    other = after.error.partition(":")[0] != before.error.partition(":")[0]
    return walked > before.statements or (other and walked == before.statements)


def same_error(mine: str, recorded: str) -> bool:
    """Whether two errors are the same except for a name of the library, or of a version."""
    if mine == recorded or not mine or not recorded:
        return mine == recorded
    same = mine.partition(":")[0] == recorded.partition(":")[0]
    return same and is_like_text(mine[:LONGEST], recorded[:LONGEST])


def outcome_of(program: str, trace: Trace, cells: Sequence[int] = ()) -> End | None:
    """How a program ends; None where that is not known."""
    tree = SourceText(program).tree  # which leaves out magics
    if tree is None:
        return None
    try:
        with isolated_run(minigrad, draws=True):
            return without_recording(lambda: walk_program(tree, trace.events, trace.names, cells))
    except CannotTry:
        return None


def walk_program(
    tree: ast.Module, events: Sequence[Event], names: tuple[tuple[str, str], ...], cells: Sequence[int]
) -> End:
    """How an interpreter ends that has the numbers of a recording. An error ends the cell in which it is
    raised, and what counts is the last cell."""
    walk = interpreter_of(events, names)
    starts = [*cells, sys.maxsize] if cells else [0, sys.maxsize]
    error = ""
    for start, stop in pairwise(starts):
        try:
            walk.block([each for each in tree.body if start < each.lineno <= stop], walk.top)
            error = ""
        except CannotTry:
            if stop == sys.maxsize:
                raise  # of a cell before, the end of the last one says whether that matters
        except Exception as raised:
            pass_on(raised)
            error = f"{type(raised).__name__}: {raised}".strip()
    return End(error, walk.walked)


def interpreter_of(events: Sequence[Event], names: tuple[tuple[str, str], ...]) -> Interpreter:
    """An interpreter with the tensors that were there before, and those that were made, in their order."""
    before, made = dict[str, TensorState](), defaultdict[str, list[TensorState]](list)
    for event in events:
        if isinstance(event, TensorCreated) and event.span is not None:
            made[normal_source(event.span.text)].append(event.tensor)
        elif isinstance(event, TensorCreated) and event.tensor.is_leaf and event.tensor.grad is None:
            before[event.tensor.id] = event.tensor
    known = {name: before[id] for id, name in names if id in before and name.isidentifier()}
    return Interpreter({name: leaf_of(state) for name, state in known.items()}, made)


# ─── Where the code of a fix belongs


class Change(NamedTuple):
    """A text with the code in it, at a line; `certain` if it replaces what it mends."""

    text: str
    certain: bool
    line: int = 0


def changes(explained: Explanation, source: SourceText) -> Iterator[Change]:
    """The programs that a fix may mean."""
    codes = [
        code for code in CODE.findall(explained.fix) if parse_source(code) is not None or code.endswith(":")
    ]
    if not codes:
        return
    for line in places_of(explained):
        found = [change._replace(line=line) for change in changes_at(codes, line, source)]
        yield from found
        if any(change.certain for change in found):
            return


def places_of(explained: Explanation) -> list[int]:
    """The lines that a fix may be about, the likeliest first."""
    told = [int(a or b) for sentence in (explained.fix, explained.why) for a, b in LINE.findall(sentence)]
    spans = [span for span in (explained.cause, explained.span) if span is not None and not span.origin]
    return list(dict.fromkeys([*told, *(span.line for span in spans)]))


def changes_at(codes: Sequence[str], line: int, source: SourceText) -> Iterator[Change]:
    """The programs with the code of a fix at a line."""
    statement = statement_at(source.tree, line)
    if statement is None:
        return
    lines = list(source.lines)
    first, last = statement.lineno - 1, statement.end_lineno or statement.lineno
    indent = lines[first][: len(lines[first]) - len(lines[first].lstrip())]
    pairs = [(codes[0], codes[1]), (codes[1], codes[0])] if len(codes) > 1 else []
    whole = "\n".join(lines[first:last])
    for old, new in pairs:  # `a` instead of `b`, perhaps twice
        if old in whole and new not in whole and is_like_text(old, new):
            swapped, more = whole.replace(old, new, 1), codes[2:4] if old == codes[0] else codes[3:1:-1]
            yield Change(with_lines(lines, first, last, swapped), True)
            if len(more) == 2:
                yield Change(with_lines(lines, first, last, swapped.replace(more[0], more[1], 1)), True)
            return
    code = codes[0]
    loop = loop_around(source.tree, statement, code)
    if loop is not None:  # which one statement replaces
        first, last = loop.lineno - 1, loop.end_lineno or loop.lineno
        indent = lines[first][: len(lines[first]) - len(lines[first].lstrip())]
        yield Change(with_lines(lines, first, last, indent + code), True)
        return
    if code.startswith("def ") and isinstance(statement, ast.FunctionDef):
        head = statement.body[0].lineno - 1
        if head > first:
            yield Change(with_lines(lines, first, head, indent + code), True)
        return
    if code.endswith(":"):
        body = "\n".join(f"    {each}" for each in lines[first:last])
        yield Change(with_lines(lines, first, last, f"{indent}{code}\n{body}"), False)
        return
    tree = parse_source(code)
    assert tree is not None
    inner = tree.body[0].body[0] if isinstance(tree.body[0], ast.With) else tree.body[-1]
    if calls_same(statement, inner):
        yield Change(with_lines(lines, first, last, indent + code), True)
        return
    replaced = with_parts(statement, tree.body[-1], lines) if isinstance(tree.body[-1], ast.Expr) else []
    if isinstance(statement, ast.Assign) and ast.unparse(statement.value) == ast.unparse(tree.body[-1]):
        yield Change(with_lines(lines, first, last, indent + code), True)  # what it computes, not assigned
    elif replaced:
        yield from (Change(each, True) for each in replaced)
    elif not hasattr(statement, "body") and is_like(statement, inner):
        yield Change(with_lines(lines, first, last, indent + code), True)
    else:
        for at in (first, last):
            yield Change(with_lines(lines, at, at, indent + code), False)


def with_lines(lines: Sequence[str], first: int, last: int, text: str) -> str:
    """The text with other lines for some."""
    return "\n".join([*lines[:first], text, *lines[last:]])


def statement_at(tree: ast.Module | None, line: int) -> ast.stmt | None:
    """The innermost statement of a line."""
    nodes = () if tree is None else ast.walk(tree)
    found = [n for n in nodes if isinstance(n, ast.stmt) and n.lineno <= line <= (n.end_lineno or 0)]
    return max(found, key=lambda node: (node.lineno, node.col_offset), default=None)


def loop_around(tree: ast.Module | None, statement: ast.stmt, code: str) -> ast.For | None:
    """The loop with a statement in it, if the code has a comprehension over the same values."""
    new = parse_source(code)
    inside = [part for part in ast.walk(new) if isinstance(part, ast.comprehension)] if new else []
    over = {(ast.unparse(each.target), ast.unparse(each.iter)) for each in inside}
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For)] if tree and over else []
    found = [loop for loop in loops if (ast.unparse(loop.target), ast.unparse(loop.iter)) in over]
    found = [loop for loop in found if statement in loop.body]
    return found[0] if found else None


def is_like(statement: ast.stmt, other: ast.stmt) -> bool:
    """Whether two statements do the same in two ways: they have the same target, or much of the text."""
    targets = [targets_of(each) for each in (statement, other)]
    if all(targets):
        return targets[0] == targets[1] and (reads_target(statement) or not reads_target(other))
    return is_like_text(ast.unparse(statement), ast.unparse(other))


def reads_target(statement: ast.stmt) -> bool:
    """Whether a statement computes the new value of a variable from the old one, as `y = y.clone()`."""
    parts = (part for part in ast.walk(statement) if isinstance(part, ast.Name | ast.Attribute))
    names = {ast.unparse(part) for part in parts if is_read(part)}
    return isinstance(statement, ast.AugAssign) or bool(names & targets_of(statement))


def calls_same(statement: ast.stmt, other: ast.stmt) -> bool:
    """Whether two statements are calls of the same function."""
    calls = [each.value for each in (statement, other) if isinstance(each, ast.Expr)]
    names = {ast.unparse(call.func) for call in calls if isinstance(call, ast.Call)}
    return len(calls) == 2 and len(names) == 1 and all(isinstance(call, ast.Call) for call in calls)


def is_like_text(a: str, b: str) -> bool:
    """Whether two texts have much in common."""
    return difflib.SequenceMatcher(None, a, b, autojunk=False).ratio() >= LIKE


def does_same(part: ast.expr, other: ast.expr) -> bool:
    """Whether two expressions call the same function, or have the same operator."""
    match part, other:
        case ast.Call(func=one), ast.Call(func=two):
            return ast.unparse(one) == ast.unparse(two)
        case ast.BinOp(op=one), ast.BinOp(op=two):
            return type(one) is type(two)
    return False


def with_parts(statement: ast.stmt, new: ast.Expr, lines: Sequence[str]) -> list[str]:
    """The texts with an expression instead of one of those in a statement that are most like it, first those
    that do the same."""
    code, found = ast.unparse(new), list[tuple[bool, float, str]]()
    for part in ast.walk(statement):
        if not isinstance(part, ast.expr):
            continue
        ratio = difflib.SequenceMatcher(None, ast.unparse(part), code, autojunk=False).ratio()
        same = does_same(part, new.value)
        if ratio < LIKE and not same:
            continue
        row, end = part.lineno - 1, (part.end_lineno or part.lineno) - 1
        head = lines[row].encode()[: part.col_offset].decode()
        tail = lines[end].encode()[part.end_col_offset :].decode()
        found.append((same, ratio, with_lines(lines, row, end + 1, head + code + tail)))
    return [text for *_, text in sorted(found, reverse=True)[:PARTS]]
