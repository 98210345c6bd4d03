"""The report as text: 80 columns, no color needed."""

from __future__ import annotations

import math
import textwrap
from pathlib import Path

from ..training_faults.diagnosis import Check, checked_facts, unchecked_facts
from ..training_faults.evidence import Evidence
from ..training_faults.findings import Finding, percent, plain
from ..words import columns, pad, shorten, shorten_name, text, wrap_text
from .flow import Row, badges, rows_of

WIDTH, GUTTER, MOST = 80, 11, 14


def report_text(e: Evidence, findings: list[Finding], lang: str | None = None) -> str:
    """The whole report."""
    parts = [header(e, lang)]
    if not e.backwards:
        parts.append(text("doctor_no_run", lang))
        return "\n\n".join(parts)
    parts += [finding_text(finding, lang) for finding in findings]
    if not findings:
        parts.append(folded_text("✓ ", text("doctor_nothing", lang, steps=e.steps)))
    rows = rows_of(e)
    if rows:
        parts.append(module_table(e, rows, findings, lang))
    good, missing = checked_facts(e), unchecked_facts(e)
    parts.append(checks_text("✓", text("doctor_checked_title", lang), good, lang))
    parts.append(checks_text("–", text("doctor_unchecked_title", lang), missing, lang))
    return "\n\n".join(part for part in parts if part)


def header(e: Evidence, lang: str | None) -> str:
    values = {"steps": f"{e.steps:,}", "parameters": len(e.parameters), "numbers": f"{e.numbers:,}"}
    lines = [text("doctor_summary", lang, sampled=len(e.sampled), **values)]
    if e.error:
        lines.append(folded_text("", text("doctor_ended", lang, error=shorten(e.error, 300))))
    return "\n".join(lines)


def folded_text(label: str, content: str, indent: int | None = None) -> str:
    """A label with its text in lines of 80 columns, later ones below the first."""
    gutter = columns(label) if indent is None else indent
    blank = " " * gutter
    lines = wrap_text(content, WIDTH - gutter).split("\n")
    lines = [piece for line in lines for piece in cut(line, WIDTH - gutter)]
    return "\n".join([pad(label, gutter) + lines[0], *(blank + line for line in lines[1:])])


def cut(line: str, width: int) -> list[str]:
    """A line without blanks that is too long, in pieces."""
    if columns(line) <= width:
        return [line]
    return textwrap.wrap(line, width if line.isascii() else width // 2, break_on_hyphens=False) or [line]


def finding_text(finding: Finding, lang: str | None) -> str:
    """A finding: verdict, line, facts, fix, key, and what follows from it."""
    tag = text("doctor_certain" if finding.certainty == "certain" else "doctor_likely", lang)
    lines = [folded_text(f"✗ {tag}", finding.verdict(lang), GUTTER)]

    def add(label: str, content: str) -> None:
        if content:
            lines.append(folded_text(label, content, GUTTER))

    if finding.place is not None:
        where = f"{Path(finding.place.file).name}:{finding.place.line}"
        add(f"  {text('doctor_where', lang)}", shorten(f"{where}  {finding.place.text}", WIDTH - GUTTER))
    for fact in finding.facts:
        add(f"  {text('doctor_step', lang, step=fact.step)}" if fact.step else "", fact.say(lang))
    add(f"→ {text('doctor_fix', lang)}", finding.fix(lang))
    lines += repair_lines(finding, lang)
    for each in finding.follows[:4]:
        add(f"  {text('doctor_follows', lang)}", each.verdict(lang))
    add(f"  {text('doctor_key', lang)}", finding.name)
    return "\n".join(lines)


def repair_lines(finding: Finding, lang: str | None) -> list[str]:
    """The fix as code: the lines to remove and the lines to write."""
    repair = finding.repair
    if repair is None:
        return []
    old, new = list(repair.old), list(repair.new)
    shown = textwrap.dedent("\n".join([*old, *new])).split("\n")
    signs = ["- "] * len(old) + ["+ "] * len(new)
    lines = [sign + shorten(line, WIDTH - GUTTER - 2) for sign, line in zip(signs, shown)]
    head = text("doctor_line", lang, line=repair.first)
    return [pad(f"  {head if i == 0 else ''}", GUTTER) + line for i, line in enumerate(lines)]


def small(x: float) -> str:
    return "" if math.isnan(x) else plain(x)


def module_table(e: Evidence, rows: list[Row], findings: list[Finding], lang: str | None) -> str:
    """A line for each module; of many the ends."""
    marked = badges(findings)
    shown = rows if len(rows) <= MOST else [*rows[: MOST // 2], *rows[-MOST // 2 :]]
    steps = sorted({step for row in rows for step in row.grads})
    first, last = (steps[0], steps[-1]) if steps else (0, 0)
    heads = ("module", "out rms", "dead", f"grad@{first}", f"grad@{last}", text("doctor_col_ratio", lang))
    lines = [f"{heads[0]:<28}" + "".join(" " * (10 - columns(head)) + head for head in heads[1:])]
    for index, row in enumerate(shown):
        if len(rows) > MOST and index == MOST // 2:
            lines.append("…")
        dead = "" if row.dead is None else percent(row.dead)
        cells = (small(row.output), dead, small(row.first()), small(row.last()), small(row.update))
        name = shorten_name(row.name, 15)
        label = pad(f"{name} {shorten(row.kind, 27 - columns(name))}", 28)
        lines.append(
            (label + "".join(f"{cell:>10}" for cell in cells)).rstrip()
            + ("  ✗"[1:] if row.name in marked else "")
        )
    for _, norm, limit in e.clip_norms[-1:]:
        left = percent(min(1.0, limit / norm)) if norm > 0 else "100 %"
        lines.append(text("doctor_clip_line", lang, norm=plain(norm), limit=plain(limit), share=left))
    return "\n".join(lines)


def checks_text(sign: str, title: str, checks: list[Check], lang: str | None) -> str:
    if not checks:
        return ""
    lines = [f"{sign} {title}"]
    for check in checks:
        name = text(check.name, lang)
        lines.append(folded_text(f"  {name}", check.fact.say(lang), 17))
    return "\n".join(lines)
