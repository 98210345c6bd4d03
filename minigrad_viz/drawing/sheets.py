"""Sheets of text and HTML: the state table, the ledger of `.grad`, the memory that a graph holds."""

from __future__ import annotations

import html
import itertools
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ..model.grad_ledger import ADDING, SKIPPED, Account, Entry, ledger_of
from ..model.memory import (
    LEAF,
    NOTHING,
    OWN,
    SHARED,
    UNKNOWN,
    CallMemory,
    Item,
    Memory,
    memory_of_nodes,
    memory_of_scenes,
)
from ..model.scene import Scenes
from ..model.trace_index import TraceIndex
from ..number_text import one_line
from ..protocol import Value
from ..snapshots import add_up
from ..trace.events import AGAIN, BackwardStarted, Snapshot, TensorCreated, TensorState, Trace
from ..trace.graph_walk import trace_of
from ..words import clean, columns, pad, shorten, text
from .style import element

# ─── Sheets: a title, a table whose rows stand in groups, and notes


# Pages that say themselves that they are light or dark count for more than what the system prefers.
STYLE = element("sheets")


class Cell(NamedTuple):
    """One cell. `kind` is "c" for what stands out, "b" for sums, "a" and "s" for what steps back, "w" for
    what may be broken into lines; what has a `then` is struck out, and that has come in its place."""

    content: str = ""
    kind: str = ""
    then: str = ""

    def text(self) -> str:
        """For a terminal, where nothing can be struck out."""
        return clean(self.then or self.content)

    def html(self) -> str:
        """For a page."""
        shown = html.escape(clean(self.content))
        if self.then:
            return f'<td class="s"><s>{shown}</s> {html.escape(clean(self.then))}</td>'
        return f'<td class="{self.kind}">{shown}</td>' if self.kind else f"<td>{shown}</td>"


Row = tuple[Cell, ...]


class Sheet:
    """A titled table with notes below; the rows of a group share their first cell."""

    def __init__(
        self, title: str, heads: Sequence[str], groups: Sequence[Sequence[Row]], notes: Sequence[str],
        lang: str | None, rest: str = "",
    ) -> None:  # fmt: skip
        """`rest` is the label of a box that shows what is hidden at first on a page: the groups in which
        nothing stands out and, of the others, the rows after the first in which nothing does."""
        self.title, self.heads, self.lang, self.rest = title, tuple(heads), lang, rest
        self.groups, self.notes = groups, tuple(map(clean, notes))

    def __bool__(self) -> bool:
        """Whether it has anything to tell."""
        return bool(self.groups or self.notes)

    def text(self) -> str:
        """In a fixed-width font."""
        lines = [list(self.heads)] if self.groups else []
        for group in self.groups:
            lines += [
                ["" if i and not k else cell.text() for k, cell in enumerate(row)]
                for i, row in enumerate(group)
            ]
        widths = [max(columns(line[i]) for line in lines) for i in range(len(self.heads))] if lines else []
        body = ["  ".join(map(pad, line, widths)).rstrip() for line in lines]
        return "\n".join([*([self.title] if self.title else []), *body, *self.notes])

    def html(self, style: bool = True) -> str:
        """For a page, which has the table's `style` already or not; a sheet that is wider than the page
        scrolls, also by the keyboard."""
        label, *more = map(html.escape, self.title.split("\n"))
        heads = "".join(f'<th scope="col">{html.escape(head)}</th>' for head in self.heads)
        told = [any(cell.kind == "c" for row in group for cell in row) for group in self.groups]
        hides = bool(self.rest)
        told = told if any(told) else [True] * len(told)  # nothing stands out: the first row of each
        box = f'<label><input type="checkbox"/> {html.escape(self.rest)}</label>' if hides else ""
        out = [
            STYLE if style else "",
            f'<div role="region" aria-label="{label}" tabindex="0" style="overflow-x:auto">',
            f'<table class="mgt"><caption>{"<br/>".join([label + box, *more])}</caption>',
        ]
        if self.groups:
            out.append(f"<thead><tr>{heads}</tr></thead>")
        for group, telling in zip(self.groups, told):
            name = html.escape(clean(group[0][0].content))
            first = f'<th scope="rowgroup" rowspan="{len(group)}">{name}</th>'
            out.append('<tbody class="u">' if hides and not telling else "<tbody>")
            for row in group:
                hidden = hides and telling and not first and all(cell.kind != "c" for cell in row)
                kind = ' class="u"' if hidden else ""
                out.append(f"<tr{kind}>{first}{''.join(cell.html() for cell in row[1:])}</tr>")
                first = ""
            out.append("</tbody>")
        notes = "<br/>".join(map(html.escape, self.notes))
        return "".join(out) + "</table>" + (f'<p style="{NOTE}">{notes}</p>' if notes else "") + "</div>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": self.text(), "text/html": self.html()}

    def __repr__(self) -> str:
        return self.text()


NOTE = "font:13px system-ui,sans-serif;margin:.2em 0 .6em"


# ─── The state table: every named tensor, one column before and one after each backward call


RETAINS = "retains_grad"  # has a row where retain_grad() was called
VERSION = "version"  # has a row where a cell that only writes has changed it
ATTRIBUTES = ("value", "grad", "requires_grad", "is_leaf", RETAINS, "grad_fn")
TABLE_MOMENTS, FIRST, LAST = (
    6,
    2,
    3,
)  # of more columns than MOMENTS only the first two and the last three are shown
TABLE_TENSORS = 40  # of more tensors than this only the first and the last are shown


class Table(NamedTuple):
    """`heads` are the titles of the moments; `rows` (tensor, attribute, one text per moment; None before it
    existed), and `changed` whether each of these changed since the moment before. `moments` and `tensors`
    count what is left out: the moments after the second, the tensors in the middle."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, str, tuple[str | None, ...]], ...]
    changed: tuple[tuple[bool, ...], ...]
    moments: int = 0
    tensors: int = 0


def table_of(trace: Trace, lang: str | None = None) -> Table:
    """The state table of a recorded cell."""
    moments = moments_of(trace)
    hidden = max(trace.skipped, 0)
    if len(moments) > TABLE_MOMENTS or hidden:
        hidden += max(len(moments) - FIRST - LAST, 0)
        moments = moments[:FIRST] + moments[FIRST:][-LAST:]
    kinds = {e.call: e.kind for e in trace.of(BackwardStarted)}
    heads = tuple(column_title(m, kinds, lang) for m in moments)
    states = [dict(m.rows) for m in moments]
    rows, changed = [], []
    names = sort_names(list(dict.fromkeys(name for m in moments for name, _ in m.rows)))
    many = len(names) > TABLE_TENSORS
    for name in names[: TABLE_TENSORS // 2] + names[-TABLE_TENSORS // 2 :] if many else names:
        known = [s.get(name) for s in states]
        versions = {state.version for state in known if state is not None}
        written = moments[0].when == AGAIN and len(versions) > 1
        for attribute in (*ATTRIBUTES, *[VERSION] * written):
            if attribute == RETAINS and not any(state and state.retains_grad for state in known):
                continue
            cells = tuple(None if state is None else cell(state, attribute) for state in known)
            held = [None if state is None else getattr(state, attribute) for state in known]
            rows.append((name, attribute, cells))
            changed.append(tuple(a != b for a, b in itertools.pairwise((held[0], *held))))
    return Table(heads, tuple(rows), tuple(changed), hidden, len(names) - TABLE_TENSORS if many else 0)


def left_out(table: Table, lang: str | None) -> list[str]:
    """A sentence for each kind of thing that is left out."""
    moments = [text("table_moments_left_out", lang, n=table.moments)] if table.moments else []
    return moments + ([text("table_tensors_left_out", lang, n=table.tensors)] if table.tensors else [])


def with_gap(table: Table, cells: Iterable[Any], gap: Any) -> list[Any]:
    """A row's cells, with `gap` where moments are left out."""
    row = list(cells)
    return [*row[:FIRST], gap, *row[FIRST:]] if table.moments else row


def moments_of(trace: Trace) -> list[Snapshot]:
    """The moments worth a column: before the first backward call, after each one, and what else shows a
    change, as after `x.grad.zero_()` between two calls. Without a call, before the cell wrote to what it
    found."""
    shown: list[Snapshot] = []
    every = trace.of(Snapshot)
    if len(every) > 1 and every[0].when == AGAIN and not any(event.call for event in every):
        end = dict(every[-1].rows)
        if any(shows(state) != shows(end[name]) for name, state in every[0].rows if name in end):
            shown.append(every[0])
    for event in every:
        if event.when == AGAIN:
            continue
        if not shown or event.when == "after" or differs(event, shown[-1]):
            shown.append(event)
    return shown


def differs(moment: Snapshot, before: Snapshot) -> bool:
    """Whether the table would show another state, or other tensors."""

    def told(snapshot: Snapshot) -> dict[str, list[Any]]:
        return {name: shows(state) for name, state in snapshot.rows}

    return told(moment) != told(before)


def shows(state: TensorState) -> list[Any]:
    """What the table would show of a tensor."""
    return [getattr(state, attribute) for attribute in ATTRIBUTES]


def sort_names(names: list[str]) -> list[str]:
    """`x.grad` is after `x`."""
    order = {name: i for i, name in enumerate(names)}
    return sorted(
        names, key=lambda n: (order.get(n.removesuffix(".grad"), order[n]), n.endswith(".grad"), order[n])
    )


def column_title(moment: Snapshot, kinds: dict[int, str], lang: str | None) -> str:
    """The title of a column."""
    if moment.when == AGAIN:
        return text("table_start", lang)
    if moment.when == "end" or not kinds:
        return text("table_end", lang)
    call = "grad" if kinds.get(moment.call) == "grad" else "backward"
    n = moment.call if call == "grad" or len(kinds) > 1 else ""
    return text("table_before" if moment.when == "before" else "table_after", lang, call=call, n=n)


def cell(state: TensorState, attribute: str) -> str:
    """One attribute of a tensor as text."""
    if attribute == "value":
        return "" if state.value is None else one_line(state.value)
    if attribute == "grad":
        return "None" if state.grad is None else one_line(state.grad)
    return str(getattr(state, attribute))


def table_text(table: Table, lang: str | None = None) -> str:
    """The table in a fixed-width font; a tensor's name is in its first row only."""
    heads = ["", "", *with_gap(table, table.heads, "…")]
    return Sheet("", heads, tensor_groups(table, lang), left_out(table, lang), lang).text()


def table_html(table: Table, lang: str | None = None) -> str:
    """The table for a page: what a backward call changed stands out; what it left alone shows on request."""
    heads = [text("kind_tensor", lang), text("table_attribute", lang), *with_gap(table, table.heads, "…")]
    title = "\n".join([text("table_caption", lang), *left_out(table, lang)])
    return Sheet(title, heads, tensor_groups(table, lang), (), lang, text("table_rest", lang)).html()


def tensor_groups(table: Table, lang: str | None) -> list[list[Row]]:
    """The rows of each tensor."""
    return [
        [
            (Cell(name), Cell(attribute, "a"), *cells_with_kinds(table, cells, changed, lang))
            for (_, attribute, cells), changed in rows
        ]
        for name, rows in itertools.groupby(
            zip(table.rows, table.changed, strict=True), key=lambda row: row[0][0]
        )
    ]


def cells_with_kinds(
    table: Table, cells: Sequence[str | None], changed: Sequence[bool], lang: str | None
) -> list[Cell]:
    """The cells of a row with their kinds: c changed, s the same as before."""
    kinds = ["" if before is None else "c" if new else "s" for before, new in zip((None, *cells), changed)]
    absent = text("table_absent", lang)
    told = (Cell(absent if each is None else each, kind) for each, kind in zip(cells, kinds, strict=True))
    return with_gap(table, told, Cell("…"))


# ─── The ledger of `.grad` as a sheet


ENTRIES, TENSORS = 8, 6  # of more, those in the middle, and the last, are left out
LEDGER_SOURCE, LEDGER_NAME, SUM, LEDGER_AMOUNT = 36, 28, 44, 18  # columns
LEDGER_HEADS = ("ledger_tensor", "ledger_what", "ledger_grad", "ledger_where", "ledger_sources")
KINDS = {
    "before": "ledger_before",
    "hook": "ledger_hook",
    "skipped": "ledger_skipped",
    "counted": "ledger_counted",
    "unseen": "ledger_unseen",
    "zero": "ledger_zero",
    "none": "ledger_none",
    "assigned": "ledger_assigned",
    "written": "ledger_written",
}


class LedgerSheet(Sheet):
    """How the `.grad` of each tensor came to be what it is; `accounts` has that as data."""

    def __init__(self, index: TraceIndex, lang: str | None = None) -> None:
        trace = index.trace
        self.accounts = ledger_of(index) if trace.recorded else ()
        self.telling = any(account.telling for account in self.accounts)
        lines = trace.source.splitlines()
        heads = [text(key, lang) for key in LEDGER_HEADS]
        told = [account for account in self.accounts if account.telling] or list(self.accounts)
        groups = [account_rows(account, lines, lang) for account in told[:TENSORS]]
        notes = []
        if len(told) > TENSORS:
            notes.append(text("ledger_tensors_left_out", lang, n=len(told) - TENSORS))
        if any(entry.again for account in told for entry in account.entries):
            notes.append(text("ledger_note", lang))
        super().__init__(text("ledger_title", lang), heads, groups, notes, lang)


def account_rows(account: Account, lines: Sequence[str], lang: str | None) -> list[Row]:
    """The entries of one tensor as rows."""
    name = Cell(shorten(f"{account.name}.grad", LEDGER_NAME))
    rows = [(name, *cells_of(entry, account, lines, lang)) for entry in account.entries]
    if len(rows) <= ENTRIES:
        return rows
    gap = Cell(text("ledger_left_out", lang, n=len(rows) - ENTRIES), "s")
    return [*rows[: ENTRIES // 2], (name, gap, Cell(), Cell(), Cell()), *rows[-ENTRIES // 2 :]]


def cells_of(entry: Entry, account: Account, lines: Sequence[str], lang: str | None) -> Row:
    """What happened, what `.grad` was then, where, and who sent it."""
    adds = entry.before is not None and entry.amount is not None
    if entry.kind in ADDING and entry.call:
        key = "ledger_again" if entry.again else "ledger_adds" if adds else "ledger_stores"
        amount = entry.amount if entry.amount is not None else entry.after
        what = text(key, lang, n=entry.call, value="" if amount is None else one_line(amount, LEDGER_AMOUNT))
    else:
        what = text(KINDS[entry.kind], lang, n=account.left_out)
    then = "None" if entry.after is None else one_line(entry.after)
    if adds and entry.before is not None and entry.amount is not None and entry.after is not None:
        then = sum_of(entry.before, entry.amount, entry.after)
    stands_out = "c" if entry.again else "s" if entry.kind == SKIPPED else ""
    sources = Cell(sources_of(entry.sources, lang), "a")
    return (
        Cell(what, f"w {stands_out}".rstrip()),
        Cell(then, stands_out),
        Cell(place_of_entry(entry, lines, lang), "a"),
        sources,
    )


def sum_of(before: Value, amount: Value, after: Value) -> str:
    """`0.6 + 0.6 = 1.2`, where the numbers do add up and there is room; else the result."""
    total = one_line(after)
    if not add_up((before, amount), after):
        return total
    line = f"{one_line(before)} + {one_line(amount)} = {total}"
    return line if columns(line) <= SUM else total


def sources_of(names: Iterable[str], lang: str | None) -> str:
    """The nodes that sent a gradient, each once."""
    counted = Counter(names)
    told = [name if n == 1 else text("ledger_times", lang, n=n, node=name) for name, n in counted.items()]
    return shorten(", ".join(told), LEDGER_NAME)


def place_of_entry(entry: Entry, lines: Sequence[str], lang: str | None) -> str:
    """The line of the cell in which something happened, or its source alone where that is elsewhere."""
    span = entry.span
    if span is None:
        return ""
    if span.origin or not 0 < span.line <= len(lines):
        return shorten(clean(span.flat), LEDGER_SOURCE)
    source = shorten(clean(" ".join(lines[span.line - 1].removesuffix("\\").split())), LEDGER_SOURCE)
    return text("ledger_line", lang, line=span.line, source=source)


# ─── The memory that a graph holds, as a sheet


ITEMS, MEMORY_MOMENTS = 40, 5  # of more, those in the middle, and the first, are left out
MEMORY_SOURCE, MEMORY_NAME, MEMORY_AMOUNT = 36, 28, 18  # columns
WALKED = 100_000  # nodes of a graph whose memory is asked for
MEMORY_HEADS = ("held_node", "held_at", "held_saved", "version_label", "held_bytes")
ELSEWHERE = {LEAF: "held_leaf", SHARED: "held_shared", UNKNOWN: "held_unknown"}  # not counted where it stands
MODES = {"no_grad": "no_grad()", "inference": "inference_mode()"}


class MemorySheet(Sheet):
    """What the graph keeps for backward; `held` are its bytes, `leaves` those of the leaves among what it
    saved, and `memory` has all of it as data."""

    def __init__(self, memory: Memory, lang: str | None = None) -> None:
        self.memory, self.held, self.leaves = memory, memory.held, memory.leaves
        shown = memory.shown[-MEMORY_MOMENTS:]
        skip = len(memory.shown) - len(shown)
        heads = [text(key, lang) for key in MEMORY_HEADS]
        heads += [text("table_after", lang, call="backward", n=call) for call in shown]
        items = list(memory.items)
        if len(items) > ITEMS:
            items = items[: ITEMS // 2] + items[-ITEMS // 2 :]
        groups: list[list[Row]] = []
        last = None
        for item in items:
            if item.node != last:
                groups.append([])
            groups[-1].append(
                saved_value_row(item if item.node != last else item._replace(at=""), skip, lang)
            )
            last = item.node
        if groups:
            groups.append([sum_row(memory, skip, lang)])
        notes = memory_notes(memory, len(memory.items) - len(items), lang) or [text("held_none", lang)]
        super().__init__(text("held_title", lang), heads, groups, notes, lang)


def saved_value_row(item: Item, skip: int, lang: str | None) -> Row:
    """One saved value."""
    saved = item.saved
    if saved is None:
        what, version = Cell(text("held_nothing", lang), "s"), ""
    else:
        value = saved.packed or (
            one_line(saved.value, MEMORY_AMOUNT) if isinstance(saved.value, Value) else saved.value
        )
        told = saved.name if value is None else f"{saved.name} = {value}"
        counts = saved.version is not None and item.kind != NOTHING
        what, version = Cell(shorten(told, MEMORY_SOURCE)), str(saved.version) if counts else ""
    size = f"{item.bytes:,}"
    if item.kind in ELSEWHERE:
        size = text(ELSEWHERE[item.kind], lang, n=f"{(saved.nbytes or 0) if saved else 0:,}")
    first = Cell(item.name), Cell(shorten(item.at, MEMORY_NAME), "a"), what, Cell(version, "a"), Cell(size)
    gone = text("held_freed", lang)
    after = (Cell(size, then=gone) if over else Cell(size) for over in item.gone[skip:])
    blank = (Cell("0", "s") for _ in item.gone[skip:])
    return *first, *(after if item.kind == OWN else blank)


def sum_row(memory: Memory, skip: int, lang: str | None) -> Row:
    """What all values come to."""
    left = [
        sum(item.bytes for item in memory.items if not item.gone[i]) for i in range(skip, len(memory.shown))
    ]
    total = Cell(f"{memory.held:,}", "b")
    return Cell(text("held_sum", lang)), Cell(), Cell(), Cell(), total, *(Cell(f"{n:,}", "b") for n in left)


def memory_notes(memory: Memory, left_out: int, lang: str | None) -> list[str]:
    """What is below the table."""
    notes = [text("held_left_out", lang, n=left_out)] if left_out else []
    notes += [moment_text(moment, lang) for moment in memory.moments[-MEMORY_MOMENTS:]]
    if memory.items and not memory.moments:
        notes.append(text("held_now", lang, n=f"{memory.held:,}"))
    if memory.leaves:
        notes.append(text("held_leaves", lang, n=f"{memory.leaves:,}"))
    if memory.rest:
        notes.append(text("held_rest", lang, n=f"{memory.rest:,}"))
    for off in memory.unrecorded:
        names = shorten(", ".join(off.texts[-2:]), MEMORY_SOURCE * 2)
        notes.append(text("held_no_grad", lang, mode=MODES[off.mode], names=names))
    return notes


def moment_text(moment: CallMemory, lang: str | None) -> str:
    """One backward call."""
    key = "held_kept" if moment.after == moment.before > 0 else "held_moment"
    return text(key, lang, n=moment.call, before=f"{moment.before:,}", after=f"{moment.after:,}")


def memory_sheet(scenes: Scenes, lang: str | None = None) -> MemorySheet:
    """The memory of a recorded cell."""
    return MemorySheet(memory_of_scenes(scenes), lang)


def memory(*roots: Any, names: dict[str, Any] | None = None, lang: str | None = None) -> MemorySheet:
    """Return the bytes that the graph of the tensors `roots` (minigrad's or PyTorch's) keeps for backward.

    `names` maps variable names to tensors (default: the caller's variables). The result shows a table;
    `.held` is the sum. TypeError if something is not a tensor.
    """
    if names is None:
        frame = sys._getframe(1)
        names = {**frame.f_globals, **frame.f_locals}
    if not roots:
        return MemorySheet(memory_of_nodes((), {}), lang)
    trace = trace_of(list(roots), names, WALKED, "memory() tells what the graph of tensors holds")
    named = dict(trace.names)
    tensors = (event.tensor for event in trace.of(TensorCreated))
    made = {t.node: named.get(t.id, "") for t in tensors if t.node is not None}
    return MemorySheet(memory_of_nodes(trace.nodes, made), lang)
