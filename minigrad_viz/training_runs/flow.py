"""The flow of gradients: numbers per module over depth and over steps, and the table of parameters."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any, NamedTuple

from ..training_faults.evidence import Evidence, Place
from ..training_faults.findings import Finding
from ..training_faults.structural import module_of

COLUMNS = ("step", "parameter", "weight", "grad", "update", "ratio", "zeros")


class Row(NamedTuple):
    """A module of the strip, of the heat map and of the table of modules."""

    name: str
    kind: str
    output: float  # rms of its output at the last sample
    grads: dict[int, float]  # rms of the gradients of its own parameters, by step
    dead: float | None  # share of dead units, of an activation
    update: float  # typical update ÷ weight

    def first(self) -> float:
        """The first gradient that was measured; nan if there was none."""
        return next(iter(self.grads.values()), math.nan)

    def last(self) -> float:
        return next(reversed(self.grads.values()), math.nan) if self.grads else math.nan


def rows_of(e: Evidence) -> list[Row]:
    """The modules that compute something of their own, in the order in which they ran."""
    own: dict[str, list[Any]] = {}
    for p in sorted(e.parameters.values(), key=lambda p: p.order):
        own.setdefault(module_of(p) if p.root else p.name, []).append(p)
    dead = {a.name.rpartition(" ")[0]: a.runs for a in e.activations.values() if isinstance(a.runs, float)}
    names = [m.name for m in sorted(e.modules.values(), key=lambda m: m.order) if m.leaf]
    names += [name for name in own if name not in names]
    found = []
    for name in names:
        parameters, module = own.get(name, []), e.modules.get(name)
        if not parameters and name not in dead and (module is None or not module.outputs):
            continue
        outputs = module.outputs if module is not None else []
        share = dead.get(name)
        kind = module.kind if module is not None else ""
        updates = [
            r
            for p in parameters
            if math.isfinite(r := p.typical("update") / (p.typical("weight") or math.nan))
        ]
        rms = outputs[-1][1] if outputs else math.nan
        found.append(
            Row(name, kind, rms, gradients_by_step(parameters), share, max(updates, default=math.nan))
        )
    return found


def gradients_by_step(parameters: list[Any]) -> dict[int, float]:
    """The rms of the gradients of several parameters, by step."""
    sums: dict[int, float] = {}
    sizes: Counter[int] = Counter()
    for p in parameters:
        for s in p.samples:
            if not math.isnan(s.grad):
                sums[s.step] = sums.get(s.step, 0.0) + p.size * s.grad * s.grad
                sizes[s.step] += p.size
    return {step: math.sqrt(sums[step] / sizes[step]) for step in sorted(sums)}


def badges(findings: list[Finding]) -> dict[str, Finding]:
    """The finding that marks a module, by the module's name."""
    found: dict[str, Finding] = {}
    for finding in findings:
        for each in (finding, *finding.follows):
            if each.subject:
                found.setdefault(each.subject, each)
    return found


class Table(list[dict[str, Any]]):
    """A row for each parameter and sampled step, as dictionaries; `to_pandas()` where pandas is installed."""

    def to_pandas(self) -> Any:
        """The table as a DataFrame. ImportError without pandas."""
        import pandas  # type: ignore[import-untyped]

        return pandas.DataFrame(list(self), columns=list(COLUMNS))

    def sorted_by(self, column: str, descending: bool = True) -> Table:
        """The rows in the order of a column; those without a number are last."""
        if column not in COLUMNS:
            raise ValueError(f"no column {column!r}: choose one of {', '.join(COLUMNS)}")

        def key(row: dict[str, Any]) -> Any:
            value = row[column]
            missing = isinstance(value, float) and math.isnan(value)
            return (
                missing,
                value if missing or isinstance(value, str) else (-value if descending else value),
            )

        return Table(sorted(self, key=key))

    def __repr__(self) -> str:
        lines = ["  ".join(f"{name:>10}" if name != "parameter" else f"{name:<24}" for name in COLUMNS)]
        for row in self[:40]:
            cells = []
            for name in COLUMNS:
                value = row[name]
                shown = f"{value:.3g}" if isinstance(value, float) else str(value)
                cells.append(f"{shown:<24}" if name == "parameter" else f"{shown:>10}")
            lines.append("  ".join(cells))
        return "\n".join([*lines, *(["…"] if len(self) > 40 else [])])


def step_table(e: Evidence) -> Table:
    """The table of all sampled steps."""
    rows = Table()
    for p in sorted(e.parameters.values(), key=lambda p: p.order):
        for s in p.samples:
            values = (s.step, p.name, s.weight, s.grad, s.update, s.ratio, s.zeros)
            rows.append(dict(zip(COLUMNS, values)))
    return rows


def around(place: Place | None, before: int = 1, after: int = 1) -> list[tuple[int, str, bool]]:
    """The lines around a place: number, text, whether it is the one."""
    import linecache

    if place is None:
        return []
    numbers = range(max(1, place.line - before), place.line + after + 1)
    lines = [(n, linecache.getline(place.file, n).rstrip("\n"), n == place.line) for n in numbers]
    return [row for row in lines if row[1].strip() or row[2]]
