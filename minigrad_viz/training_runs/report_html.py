"""The report as a page that needs no network: verdict, strip, when, where, fix, text, checks, table, and the
step that was recorded whole.

The report itself is static; its script sorts the table, and opens a module of a picture in the recorded step.
"""

from __future__ import annotations

from collections.abc import Set
from html import escape
from pathlib import Path

from ..training_faults.diagnosis import Check, checked_facts, unchecked_facts
from ..training_faults.evidence import Evidence
from ..training_faults.findings import Finding, Repair, plain
from ..words import text
from .flow import around, rows_of
from .maps import heat_map, unit_map
from .plots import loss_plot, strip
from .recorded_step import Recording, modules_of
from .report_text import report_text, small

HERE = Path(__file__).parent
COLORS = (HERE.parent / "drawing" / "colors.css").read_text(encoding="utf-8")
STYLE = (HERE / "report.css").read_text(encoding="utf-8")
SCRIPT = (HERE / "report.js").read_text(encoding="utf-8")
CROSS = '<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M3 3l10 10M13 3L3 13"/></svg>'
TICK = '<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M2 9l4 4 8-10"/></svg>'


def report_page(
    e: Evidence, findings: list[Finding], lang: str | None = None, recorded: Recording | None = None
) -> str:
    """A whole page."""
    title = escape(text("doctor_title", lang))
    body = report_html(e, findings, lang, recorded)
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    return f'<!doctype html><html lang="{lang or "en"}">{head}<title>{title}</title>{body}</html>\n'


def report_html(
    e: Evidence, findings: list[Finding], lang: str | None = None, recorded: Recording | None = None
) -> str:
    """The report as an element, for a page or a notebook. Modules of its pictures open in the `recorded`
    step."""
    known = frozenset() if recorded is None else modules_of(recorded.report)
    parts = [verdict(e, findings, lang), f'<div class="dr-strip">{strip(e, findings, lang, known)}</div>']
    left = [when(e, findings, lang), *(finding_part(f, i > 0, lang) for i, f in enumerate(findings))]
    plain_text = escape(report_text(e, findings, lang))
    left.append(flow_section(e, lang, known))
    right = f"<h2>{escape(text('doctor_text_title', lang))}</h2><pre>{plain_text}</pre>"
    parts.append(
        f'<div class="dr-two"><div class="dr-l">{"".join(left)}</div><div class="dr-r">{right}</div></div>'
    )
    parts.append(checks(checked_facts(e), unchecked_facts(e), lang))
    parts.append(parameter_table(e, lang))
    parts.append(recorded_section(e, recorded, bool(known), lang))
    style = f"<style>{themes()}{STYLE}</style>"
    return (
        f'{style}<main class="doctor" lang="{lang or "en"}">{"".join(parts)}</main><script>{SCRIPT}</script>'
    )


def themes() -> str:
    """The viewer's colors, light, and dark where the reader's system or page is."""
    rules = {
        line.partition("{")[0]: line.partition("{")[2].rstrip("}") for line in COLORS.splitlines() if line
    }
    light, dark = rules[".light"], rules[".dark"]
    system = f"@media (prefers-color-scheme:dark){{.doctor{{{dark}}}}}"
    forced = f".dark .doctor,[data-jp-theme-light=false] .doctor{{{dark}}}.light .doctor,[data-jp-theme-light=true] .doctor{{{light}}}"
    return f".doctor{{{light}}}{system}{forced}"


def verdict(e: Evidence, findings: list[Finding], lang: str | None) -> str:
    values = {"steps": f"{e.steps:,}", "parameters": len(e.parameters), "numbers": f"{e.numbers:,}"}
    summary = text("doctor_summary", lang, sampled=len(e.sampled), **values)
    if e.error:
        summary += " · " + text("doctor_ended", lang, error=e.error[:200])
    if not findings:
        head = text("doctor_nothing", lang, steps=e.steps) if e.backwards else text("doctor_no_run", lang)
        return f'<header class="dr-ver dr-fine"><i>{TICK}</i><h1>{escape(head)}</h1><p>{escape(summary)}</p></header>'
    first = findings[0]
    more = f" · {text('doctor_more', lang, n=len(findings) - 1)}" if len(findings) > 1 else ""
    tag = f'<span class="dr-tag">{escape(certainty(first, lang))}</span>'
    head = f"<h1>{code(first.verdict(lang))}</h1>{tag}<p>{escape(summary + more)}</p>"
    return f'<header class="dr-ver"><i>{CROSS}</i>{head}</header>'


def certainty(finding: Finding, lang: str | None) -> str:
    return text("doctor_certain" if finding.certainty == "certain" else "doctor_likely", lang)


def code(sentence: str) -> str:
    """A sentence with its names in code."""
    parts = escape(sentence).split("`")
    return "".join(f"<code>{part}</code>" if i % 2 else part for i, part in enumerate(parts))


# Of which activation functions a finding speaks, and the title of their map.
UNITS = {"dead_unit": ("dead", "doctor_units_dead"), "saturated": ("flat", "doctor_units_flat")}


def when(e: Evidence, findings: list[Finding], lang: str | None) -> str:
    """The loss over steps, and the units of the activation functions where a finding is about them."""
    step = findings[0].step if findings else 0
    picture = loss_plot(e, step, lang)
    title = escape(text("doctor_when", lang) if step else text("doctor_loss_title", lang))
    parts = [f"<h2>{title}</h2>{picture}" if picture else ""]
    named = [each.key for finding in findings for each in (finding, *finding.follows)]
    for kind, title in dict.fromkeys(UNITS[key] for key in named if key in UNITS):
        told = text(title, lang)
        parts.append(f"<h2>{escape(told)}</h2>{unit_map(e, kind, told)}")
    return "".join(parts)


def finding_part(finding: Finding, titled: bool, lang: str | None) -> str:
    """Where, the facts, and the fix of a finding."""
    parts = []
    if titled:
        parts.append(
            f'<h3>{code(finding.verdict(lang))} <span class="dr-tag">{escape(certainty(finding, lang))}</span></h3>'
        )
    if finding.place is not None:
        file = escape(Path(finding.place.file).name)
        lines = "".join(
            f'<div class="{"dr-hit" if hit else ""}"><i>{number}</i>{escape(line)}</div>'
            for number, line, hit in around(finding.place)
        )
        parts.append(
            f"<h2>{escape(text('doctor_where_title', lang))} <span>· {file}</span></h2><div class='dr-code'>{lines}</div>"
        )
    facts = "".join(
        f"<li>{escape(text('doctor_step', lang, step=fact.step)) + ': ' if fact.step else ''}{code(said)}</li>"
        for fact in finding.facts
        if (said := fact.say(lang))
    )
    follows = "".join(
        f"<li>{escape(text('doctor_follows', lang))}: {code(each.verdict(lang))}</li>"
        for each in finding.follows
    )
    if facts or follows:
        parts.append(f"<ul>{facts}{follows}</ul>")
    if finding.fix(lang):
        parts.append(
            f"<h2>{escape(text('doctor_fix_title', lang))}</h2><div class='dr-fix'>{code(finding.fix(lang))}</div>"
        )
    if finding.repair is not None:
        parts.append(repair_part(finding.repair))
    parts.append(
        f"<p class='dr-key'>{escape(text('doctor_key', lang))}: <code>{escape(finding.name)}</code></p>"
    )
    return f"<section>{''.join(parts)}</section>"


def repair_part(repair: Repair) -> str:
    """Removed and added lines; a sign says which, not only a color."""
    old = [("dr-old", "−", line) for line in repair.old]
    rows = [*old, *(("dr-new", "+", line) for line in repair.new)]
    lines = "".join(f'<div class="{kind}"><i>{sign}</i>{escape(line)}</div>' for kind, sign, line in rows)
    return f'<div class="dr-code">{lines}</div>'


def flow_section(e: Evidence, lang: str | None, known: Set[str]) -> str:
    picture = heat_map(rows_of(e), lang, known)
    if not picture:
        return ""
    head = f"{escape(text('doctor_flow', lang))} <span>· {escape(text('doctor_flow_about', lang))}</span>"
    return f"<h2>{head}</h2>{picture}"


def checks(good: list[Check], missing: list[Check], lang: str | None) -> str:
    def column(title: str, sign: str, rows: list[Check]) -> str:
        items = "".join(
            f"<span>{sign}</span><dt>{escape(text(c.name, lang))}</dt><dd>{escape(c.fact.say(lang))}</dd>"
            for c in rows
        )
        return f"<div><h2>{escape(title)}</h2><dl>{items}</dl></div>"

    left = column(text("doctor_checked_title", lang), "✓", good)
    right = column(text("doctor_unchecked_title", lang), "–", missing)
    return f'<div class="dr-ok">{left}{right}</div>'


def parameter_table(e: Evidence, lang: str | None) -> str:
    """The sortable table of the last sampled step."""
    found = [(p, p.samples[-1]) for p in sorted(e.parameters.values(), key=lambda p: p.order) if p.samples][
        :400
    ]
    if not found:
        return ""
    step = max(s.step for _, s in found)
    heads = (
        text("doctor_col_parameter", lang), text("doctor_col_weight", lang), text("doctor_col_grad", lang),
        text("doctor_col_update", lang), text("doctor_col_ratio", lang), text("doctor_col_zeros", lang),
    )  # fmt: skip
    head = "".join(f'<th scope="col"><button type="button">{escape(each)}</button></th>' for each in heads)
    rows = []
    for p, s in found:
        numbers = (s.weight, s.grad, s.update, s.ratio, s.zeros)
        cells = "".join(f'<td data-v="{value!r}">{small(value)}</td>' for value in numbers)
        rows.append(f"<tr><td>{escape(p.name)}</td>{cells}</tr>")
    clip = ""
    for _, norm, limit in e.clip_norms[-1:]:
        left = f"{100 * min(1.0, limit / norm) if norm > 0 else 100:.0f} %"
        clip = f"<p>{escape(text('doctor_clip_line', lang, norm=plain(norm), limit=plain(limit), share=left))}</p>"
    title = escape(text("doctor_parameters_title", lang, step=step))
    return f'<details class="dr-table"><summary>{title}</summary>{clip}<div><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div></details>'


def recorded_section(e: Evidence, recorded: Recording | None, opens: bool, lang: str | None) -> str:
    """The step that was recorded whole, or how to have one."""
    if recorded is None:
        told = code(text("doctor_record_how", lang)) if e.backwards else ""
        return f'<p class="dr-how">{told}</p>' if told else ""
    about = f" <span>· {escape(text('doctor_recorded_about', lang))}</span>" if opens else ""
    head = f"<h2>{escape(text('doctor_recorded', lang, step=recorded.step))}{about}</h2>"
    return f'<section class="dr-recorded">{head}{recorded.report.html(table=False)}</section>'
