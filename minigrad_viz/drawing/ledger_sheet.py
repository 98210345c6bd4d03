"""The ledger of `.grad` as a sheet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ..model.grad_ledger import ADDING, SKIPPED, Account, Entry, ledger_of
from ..model.trace_index import TraceIndex
from ..numbers import short
from ..protocol import Value
from ..snapshots import add_up
from ..words import clean, columns, shorten, text
from .sheets import Cell, Row, Sheet

ENTRIES, TENSORS = 8, 6  # of more, those in the middle, and the last, are left out
SOURCE, NAME, SUM, AMOUNT = 36, 28, 44, 18  # columns
HEADS = ("ledger_tensor", "ledger_what", "ledger_grad", "ledger_where", "ledger_sources")
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
        heads = [text(key, lang) for key in HEADS]
        told = [account for account in self.accounts if account.telling] or list(self.accounts)
        groups = [rows_of(account, lines, lang) for account in told[:TENSORS]]
        notes = []
        if len(told) > TENSORS:
            notes.append(text("ledger_tensors_left_out", lang, n=len(told) - TENSORS))
        if any(entry.again for account in told for entry in account.entries):
            notes.append(text("ledger_note", lang))
        super().__init__(text("ledger_title", lang), heads, groups, notes, lang)


def rows_of(account: Account, lines: Sequence[str], lang: str | None) -> list[Row]:
    """The entries of one tensor as rows."""
    name = Cell(shorten(f"{account.name}.grad", NAME))
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
        what = text(key, lang, n=entry.call, value="" if amount is None else short(amount, AMOUNT))
    else:
        what = text(KINDS[entry.kind], lang, n=account.left_out)
    then = "None" if entry.after is None else short(entry.after)
    if adds and entry.before is not None and entry.amount is not None and entry.after is not None:
        then = sum_of(entry.before, entry.amount, entry.after)
    stands_out = "c" if entry.again else "s" if entry.kind == SKIPPED else ""
    sources = Cell(sources_of(entry.sources, lang), "a")
    return (
        Cell(what, f"w {stands_out}".rstrip()),
        Cell(then, stands_out),
        Cell(where(entry, lines, lang), "a"),
        sources,
    )


def sum_of(before: Value, amount: Value, after: Value) -> str:
    """`0.6 + 0.6 = 1.2`, where the numbers do add up and there is room; else the result."""
    total = short(after)
    if not add_up((before, amount), after):
        return total
    line = f"{short(before)} + {short(amount)} = {total}"
    return line if columns(line) <= SUM else total


def sources_of(names: Iterable[str], lang: str | None) -> str:
    """The nodes that sent a gradient, each once."""
    counted = Counter(names)
    told = [name if n == 1 else text("ledger_times", lang, n=n, node=name) for name, n in counted.items()]
    return shorten(", ".join(told), NAME)


def where(entry: Entry, lines: Sequence[str], lang: str | None) -> str:
    """The line of the cell in which something happened, or its source alone where that is elsewhere."""
    span = entry.span
    if span is None:
        return ""
    if span.origin or not 0 < span.line <= len(lines):
        return shorten(clean(span.flat), SOURCE)
    source = shorten(clean(" ".join(lines[span.line - 1].removesuffix("\\").split())), SOURCE)
    return text("ledger_line", lang, line=span.line, source=source)
