"""Cells and graphs, and what is shown of them, word for word, in `tests/viewer/golden`. One command writes it
anew, to be read as a diff:

    python tests/helpers/golden.py [TOPIC ...]

In a file a cell begins with `=== ` and its title, and what is shown of it with `--- ` and the part. Both
libraries show the same, minigrad in PyTorch 2's dialect; where they do not, the part stands there twice. To
add a cell, write it with the names of its parts: `--- explained` or `--- steps`, of one call `--- steps 2`,
in Korean `--- steps ko`, of one library `--- steps (minigrad)`. In `pictures` a graph made by hand stands in
place of a cell, and after a part the options of its picture: `--- drawn saved=all`; in `zoo` only the name of
a mistake.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import linecache
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import drawings
import pictures
import sentences
import signed
import sketches
from cells import run, watched_cell
from displayed import described
from staged import build
from stepping import marked
from twins import dialect

from minigrad_viz import explain
from minigrad_viz.drawing import matrices
from minigrad_viz.drawing.outline import outline
from minigrad_viz.drawing.sheets import table_text
from minigrad_viz.number_text import one_line
from minigrad_viz.player.acts import Act
from minigrad_viz.protocol import Value
from minigrad_viz.shell import explain as last
from minigrad_viz.shell.report import Report
from minigrad_viz.steps.timeline import steps_text
from minigrad_viz.trace.events import Snapshot
from minigrad_viz.trace.graph import GUILTY, Explanation
from minigrad_viz.trace.source_positions import Span

FOLDER = Path(__file__).resolve().parents[1] / "viewer" / "golden"
TOPICS = sorted(file.stem for file in FOLDER.glob("*.txt"))
REMEMBERED = (last._last, last._error, last._ids)  # of the cell that ran last
LIBRARIES = ("minigrad", "PyTorch")
PICTURES, ZOO = "pictures", "zoo"
BESIDE = {  # the folder
    "sentences": (sentences.FILE, sentences.sentences),
    "drawings": (drawings.FILE, drawings.drawings),
}
PART = re.compile(r"--- (\w+)(?: ([\w= ]+?))?(?: \((\w+)\))?\n")


class Part(NamedTuple):
    """A part that is shown, of which call ("": the last) or how, and the libraries that show it so."""

    name: str
    how: str
    libraries: tuple[str, ...]
    text: str


class Cell(NamedTuple):
    """A cell of a golden file."""

    title: str
    source: str
    parts: tuple[Part, ...]


def cells_of(topic: str) -> list[Cell]:
    """Read a file."""
    found = []
    for section in re.split(r"^=== ", (FOLDER / f"{topic}.txt").read_text(encoding="utf-8"), flags=re.M)[1:]:
        head, _, body = section.partition("\n")
        source, *shown = re.split(r"^(?=--- )", body, flags=re.M)
        if topic == ZOO:
            source = importlib.import_module("zoo").MISTAKES[head].broken
        found.append(Cell(head, source, tuple(map(part_of, shown))))
    return found


def part_of(written: str) -> Part:
    """Read a part."""
    head = PART.match(written)
    assert head is not None, f"not the beginning of a part: {written.splitlines()[0]}"
    name, how, library = head.groups()
    libraries = LIBRARIES if library is None else (library,)
    return Part(name, how or "", libraries, written[head.end() :].strip("\n"))


# ── what can be shown ───────────────────────────────────────────────────────────────────────────────────────


def explained(report: Report, _: str) -> str:
    """All that is explained: key, line and that of the cause, marks, error, why, fix, matrices."""
    return "\n".join(each for told in report.diagnosed for each in lines_of(report, told)) or "nothing"


def lines_of(report: Report, told: Explanation) -> list[str]:
    """An explanation, line by line; in Korean only its sentences."""
    if report.lang == "ko":
        return [*filter(None, (told.why, told.fix))]
    graph = build(report.trace, told.call or None)
    head = [told.key or "unknown", *([f"line {told.span.line}"] if told.span else [])]
    if told.cause is not None:
        head.append(f"cause in line {told.cause.line}: {told.cause.flat}")
    marks = [
        f"{'guilty' if mark.kind == GUILTY else 'led to it'}: {described(graph, mark.part)}"
        + (f" ({mark.label})" if mark.label else "")
        for mark in told.marks
    ]
    said = [
        f"{name}: {text}"
        for name, text in (("error", told.error), ("why", told.why), ("fix", told.fix))
        if text
    ]
    return [", ".join(head), *marks, *said, *(matrices.matrices_text(each, "en") for each in told.matrices)]


def act(report: Report, how: str) -> Act:
    """Picture and steps of a call."""
    if not how.isdigit():
        return report.act(-1)
    return next(report.act(i) for i, view in enumerate(report.views) if view.call == int(how))


def unwatched(report: Report, _: str) -> str:
    """What `explain()` says of the error of a cell that nobody watched."""
    source, file = report.trace.source, "<unwatched>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            space = {"torch": importlib.import_module(report.trace.library), "__name__": "__main__"}
            exec(compile(source, file, "exec"), space)
    except Exception as error:
        return repr(explain(error, lang="en"))
    raise AssertionError("the cell ends well")


def why(report: Report, name: str) -> str:
    """What `why_none` says of a variable once the watched cell has run, in both languages."""
    before = [each[:] for each in REMEMBERED]
    try:
        space = watched_cell(report.trace.source, importlib.import_module(report.trace.library))
        said = [eval(f"why_none({name}, {lang!r})", space) for lang in ("en", "ko")]
    finally:
        for each, old in zip(REMEMBERED, before):
            each[:] = old
    return "\n".join([said[0].key, *(each.sentence for each in said)])


def picture(report: Report, how: str) -> str:
    """The picture in words."""
    return act(report, how).picture.outline()


def graph(report: Report, how: str) -> str:
    """The whole graph in words, nothing folded and nothing marked."""
    return outline(build(report.trace, int(how) if how else None), "en")


def steps(report: Report, how: str) -> str:
    """The steps in words."""
    return steps_text(act(report, how).frames, report.lang)


def marks(report: Report, how: str) -> str:
    """Of each step the place in the source, and the parts of the picture that it marks."""
    return "\n".join(
        f"{frame.label}: `{marked(report.trace.source, frame) or ''}` {' '.join(frame.marks)}".rstrip()
        for frame in act(report, how).frames
    )


def ledger(report: Report, _: str) -> str:
    """How the gradients came to be what they are."""
    return report.ledger.text()


def memory(report: Report, _: str) -> str:
    """What the graph kept for backward."""
    return report.memory.text()


def table(report: Report, _: str) -> str:
    """The state table."""
    return table_text(report.table, "en")


def events(report: Report, _: str) -> str:
    """All that was recorded but the state table, one event in a line, without what is empty or as usual."""
    return "\n".join(written_event(each) for each in report.trace.events if not isinstance(each, Snapshot))


def written_event(event: Any) -> str:
    """An event: its kind, its place in the source, and its fields."""
    fields = [
        f"{name}={brief(value)}"
        for name, value in zip(event._fields, event)
        if name != "span" and value not in (None, "", (), False, event._field_defaults.get(name, ()))
    ]
    span = getattr(event, "span", None)
    place = f" `{span.line}: {' '.join(span.text.split())}`" if span is not None else ""
    said = " ".join(fields).replace("_scalar ", " ")  # minigrad has an op of its own for numbers
    return f"{type(event).__name__}{place} {said}".rstrip()


def brief(value: Any) -> str:
    """A part of an event."""
    if isinstance(value, Value):
        return one_line(value)
    if isinstance(value, Span):
        return f"`{value.line}: {' '.join(value.text.split())[:60]}`"
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        told = [f"{name}={brief(each)}" for name, each in zip(value._fields, value)
                if each not in (None, "", (), False, value._field_defaults.get(name, ()))]  # fmt: skip
        return f"{{{' '.join(told)}}}"
    if isinstance(value, tuple):
        return f"({', '.join(map(brief, value))})"
    return value if isinstance(value, str) else repr(value)


SHOWN: dict[str, Callable[[Report, str], str]] = {
    part.__name__: part
    for part in (explained, unwatched, why, picture, graph, steps, marks, ledger, memory, table, events)
}


def report_of(source: str, library: str) -> Report:
    """Record a cell, whose random numbers are the same each time."""
    torch = importlib.import_module(library.replace("PyTorch", "torch"))
    torch.manual_seed(0)
    ran = run(source, torch)
    assert ran.trace is not None
    error = ran.trace.error
    assert (ran.error is None) == (error is None), ran.error
    assert ran.error is None or error == f"{type(ran.error).__name__}: {ran.error}".rstrip(), error
    return Report(ran.trace, lang="en")


def part_text(report: Report, part: Part) -> str:
    """A part as it is today."""
    if part.how == "ko":
        report = Report(report.trace, lang="ko")
    return SHOWN[part.name](report, part.how).strip("\n")


# ── pictures of graphs made by hand ─────────────────────────────────────────────────────────────────────────


def drawn(source: str, name: str, how: str) -> str:
    """The parts of a picture in words, or its outline."""
    graph = eval(source, {**vars(sketches), **vars(signed)})
    options = dict(option.split("=") for option in how.split())
    if name == "outline":
        return outline(graph, options.get("lang", "en"))
    chosen = {key: {"False": False}.get(value, value) for key, value in options.items()}
    root, _ = pictures.parse(pictures.draw(graph, **{"lang": "en", **chosen})[0])
    return "\n".join(parts_of(root, ""))


def parts_of(element: ElementTree.Element, indent: str) -> Iterator[str]:
    """An element of a picture: its id, its classes, its texts, and what it tells on request."""
    name = element.tag.removeprefix(pictures.SVG)
    called = " ".join(filter(None, (element.get("id"), element.get("class"))))
    if name in ("title", "desc"):
        yield f"{indent}⟨{' / '.join((element.text or '').splitlines())}⟩"
    elif name == "text":
        yield f"{indent}{''.join(element.itertext())!r} {called}".rstrip().replace("\\xa0", " ")
    elif name == "g" and called:
        yield indent + called
    if name not in ("style", "text"):
        for child in element:
            yield from parts_of(child, indent + "  " if name == "g" and called else indent)


# ── writing ─────────────────────────────────────────────────────────────────────────────────────────────────


def golden_text(topic: str, cell: Cell) -> str:
    """A cell with its parts as they are today."""
    parts = ""
    if topic == PICTURES:
        for part in cell.parts:
            parts += f"{heading(part.name, part.how)}\n{drawn(cell.source, part.name, part.how)}\n"
        return f"=== {cell.title}\n{cell.source}{parts}"
    source = "" if topic == ZOO else cell.source
    with dialect("2"):
        used = {library for part in cell.parts for library in part.libraries}
        reports = {library: report_of(cell.source, library) for library in used}
        for name, how in dict.fromkeys((part.name, part.how) for part in cell.parts):
            same = [part for part in cell.parts if (part.name, part.how) == (name, how)]
            libraries = [each for each in LIBRARIES if any(each in part.libraries for part in same)]
            texts = {each: part_text(reports[each], same[0]) for each in libraries}
            if len(set(texts.values())) == 1 and len(texts) == 2:
                texts = {"": next(iter(texts.values()))}
            for library, text in texts.items():
                parts += f"{heading(name, how, library)}\n{text}\n"
    return f"=== {cell.title}\n{source}{parts}"


def heading(name: str, how: str, library: str = "") -> str:
    """The line before a part."""
    return " ".join(filter(None, ("---", name, how, library and f"({library})")))


def main() -> None:
    sys.path.append(str(FOLDER.parents[1]))  # where the zoo is
    for topic in sys.argv[1:] or (*TOPICS, *BESIDE):
        if topic in BESIDE:
            BESIDE[topic][0].write_text(BESIDE[topic][1](), encoding="utf-8")
            continue
        text = "\n".join(golden_text(topic, cell) for cell in cells_of(topic))
        (FOLDER / f"{topic}.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
