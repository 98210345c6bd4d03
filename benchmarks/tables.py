"""What was measured, in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from engines import BY_HAND, OURS, PYTORCH
from figures import Figure
from goals import goal_of
from timing import Row, Spread


def duration(seconds: float) -> str:
    """Three digits and a unit."""
    for scale, unit in ((1e-6, "µs"), (1e-3, "ms")):
        if seconds < 999.5 * scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds:.3g} s"


def plain(ratio: float) -> str:
    """Two digits, or all before the point."""
    return f"{ratio:.2g}" if ratio < 99.5 else f"{ratio:.0f}"


def verdict(value: float, holds: float | None, goal: float | None) -> str:
    """In a word whether the limits are kept."""
    if goal is not None and value <= goal:
        return "goal met"
    if holds is not None:
        return "holds" if value <= holds else "**missed**"
    return "" if goal is None else "**missed**"


def markdown(head: Sequence[str], body: Sequence[Sequence[str]], left: int = 2) -> str:
    """A table whose first `left` columns stand to the left."""
    lines = [head, ["---"] * left + ["---:"] * (len(head) - left), *body]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def shown_row(row: str) -> str:
    return row.replace("'", "′")


def names_of(rows: Sequence[Row]) -> list[str]:
    """The engines that minigrad was compared with in any row, in the order of their first appearance."""
    names = dict.fromkeys(name for row in rows for name in row.ratios)
    return sorted(names, key=lambda name: (not name.startswith(PYTORCH), name == BY_HAND))


def spread_cell(ratio: Spread | None) -> str:
    """A ratio with its quartiles."""
    if ratio is None:
        return "—"
    return f"{plain(ratio.median)} ({plain(ratio.low)}–{plain(ratio.high)})"


def ratio_table(rows: Sequence[Row], judged: bool) -> str:
    """minigrad's time, its ratio to each other engine with the quartiles and, if `judged`, the limits."""
    names = names_of(rows)
    head = ["", "workload", "minigrad", *(f"÷ {name}" for name in names)]
    body = []
    for row in rows:
        cells = [row.key.split()[0], row.title, duration(row.seconds[OURS].median)]
        cells += [spread_cell(row.ratios.get(name)) for name in names]
        body.append([*cells, *(goal_cells(row) if judged else [])])
    return markdown([*head, *(["must / goal", ""] if judged else [])], body)


def goal_cells(row: Row) -> list[str]:
    """What the ratio has to be, and whether it is."""
    goal = goal_of(row.key)
    if goal is None:
        return ["", ""]
    ratio = row.ratios.get(goal.against)
    limits = f"{goal.holds:g} / {goal.goal:g}" + ("" if goal.against == PYTORCH else f" × {goal.against}")
    return [limits, verdict(ratio.median, goal.holds, goal.goal) if ratio else ""]


def quantity(value: float | None, unit: str) -> str:
    """A number with its unit."""
    if value is None:
        return "—"
    if unit == "s":
        return duration(value)
    return f"{value:.3g} {unit}" if value < 999.5 else f"{value:,.0f} {unit}"


def figure_table(figures: Sequence[Figure], judged: bool) -> str:
    """Every figure, with its limits if that is to be `judged`."""
    body = []
    for f in figures:
        limits = " / ".join(quantity(limit, f.unit) for limit in (f.holds, f.goal) if limit is not None)
        said = [limits, "" if f.value is None else verdict(f.value, f.holds, f.goal)] if judged else []
        cells = [shown_row(f.row), f.title, quantity(f.value, f.unit), quantity(f.peer, f.unit)]
        body.append(cells + said)
    return markdown(["", "what", "minigrad", "PyTorch", *(["must / goal", ""] if judged else [])], body)


def short_table(rows: Sequence[Row], figures: Sequence[Figure]) -> str:
    """Medians in one table, for a page that is read: what was timed, and the figures that have a goal."""
    names = names_of(rows)
    body = []
    for row in rows:
        cells = [row.key.split()[0], row.title, duration(row.seconds[OURS].median)]
        body.append(cells + [plain(row.ratios[name].median) if name in row.ratios else "—" for name in names])
    for f in (f for f in figures if f.goal is not None):
        ratio = plain(f.value / f.peer) if f.value is not None and f.peer else "—"
        cells = [f.row, f.title, quantity(f.value, f.unit)]
        body.append(cells + [ratio if name == PYTORCH else "—" for name in names])
    body.sort(key=lambda cells: cells[0])  # c′ after c; sorting keeps the order within a row
    shown = [[shown_row(cells[0]), *cells[1:]] for cells in body]
    return markdown(["", "workload", "minigrad", *(f"÷ {name}" for name in names)], shown)
