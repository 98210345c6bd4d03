"""Running a program of the zoo under a doctor, and judging its report."""

from __future__ import annotations

import linecache
import warnings
from typing import Any

from doctor.faults import Program
from minigrad_viz.training_runs import Doctor, doctor


def run(program: Program, **options: Any) -> Doctor:
    """The doctor that has watched the program. An error of the program is part of its fault."""
    name = f"/zoo/{program.name}.py"
    linecache.cache[name] = (len(program.source), None, program.source.splitlines(True), name)
    d = doctor(show=False, **options)
    try:
        with warnings.catch_warnings(), d:
            warnings.simplefilter("ignore")
            exec(compile(program.source, name, "exec"), {"__name__": "__main__"})
    except RuntimeError:
        assert program.fault is not None, program.name
    assert not d.evidence.unwatched, (program.name, d.evidence.unwatched)
    return d


def verdict(program: Program, d: Doctor) -> str:
    """ "" if the report is right; else what it says instead. The first finding has to have the right key, and
    the right line where the fault has one; and it has to be the only one."""
    found = d.findings
    said = ", ".join(f"{f.key}@{f.place.line if f.place else '-'}" for f in found) or "nothing"
    if program.fault is None:
        return said if found else ""
    first = found[0] if found else None
    if first is None or first.key not in program.fault.keys.split():
        return said
    if program.line and (first.place is None or first.place.line != program.line):
        return f"{said}, not line {program.line}"
    return said if len(found) > 1 else ""
