"""Names, sources, reprs and errors that try to break out, from the cell to everything that is shown; and
cells that do anything to Python.

What is shown of a hostile cell is compared with what is shown of a tame one of the same form: it may have no
element, attribute or command of LaTeX that the tame one has not.
"""

from __future__ import annotations

import functools
import json
import locale
import os
import re
import sys
import threading
import unicodedata
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple

import hostile_cells
import pytest
from bare_shell import bare_shell
from cells import run
from hostile import PIECES, TEXTS, batches, cell_of, literal, nameable, tame
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.utils.io import capture_output
from lab import BROWSER_OPTIONS, find_chromium, missing
from shells import COLOUR
from telling import calm
from tiers import examples

import minigrad
from minigrad_viz import draw, make_dot
from minigrad_viz.drawing.layout import render
from minigrad_viz.player.widget import Stepper
from minigrad_viz.shell.report import Report
from minigrad_viz.trace.events import Trace
from minigrad_viz.words import clean

SIZE = 25
NAMES = list(hostile_cells.CELLS)
CELLS = {name: hostile_cells.CELLS[name] for name in NAMES[:: len(NAMES) // examples(len(NAMES))]}
BATCHES = batches(SIZE)
BOTH = -(-len(PIECES) // SIZE)  # the batches whose texts are tried in every place
CASES = [(i, 0) for i in range(len(BATCHES))] + [(i, 1) for i in range(BOTH)]
TURNERS = ("RLO", "LRO", "RLI", "LRI", "RLE", "LRE", "FSI", "PDF", "PDI")


def report_of(batch: list[str], turn: int = 0, library: Any = minigrad, **options: Any) -> Report:
    cell = cell_of(batch, library, batch[0], turn)
    ran = run(cell.source, library, names=cell.names)
    assert str(ran.error) == batch[0] and ran.trace is not None
    return Report(ran.trace, **{"lang": "en", **options})


@functools.cache
def tame_report(turn: int, **options: Any) -> Report:
    return report_of(tame(BATCHES[0]), turn, **options)


@pytest.fixture(scope="module", params=CASES, ids=str)
def case(request):
    """Texts, the report of the cell that has them, and the report of a tame cell."""
    i, turn = request.param
    return BATCHES[i], report_of(BATCHES[i], turn), tame_report(turn)


# ──────────────────────────────────────────────────────────────────────────────────────────── tools


def check_text(text: str) -> None:
    """No character that a terminal obeys, that turns the writing direction around or cannot be encoded."""
    for char in set(text) - {"\n"}:
        bad = unicodedata.category(char) in ("Cc", "Cs") or unicodedata.bidirectional(char) in TURNERS
        assert not bad, hex(ord(char))
    text.encode()


def found_in(text: str, shown: str) -> bool:
    """Whether a text, or how it stands in the source, is shown, as far as there was room for it."""
    return any(squeezed(clean(one))[:4] in squeezed(shown) for one in (text, literal(text)[1:-1]))


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def check_found(batch: list[str], shown: str) -> None:
    missing = [text for text in batch if not found_in(text, shown)]
    assert not missing, missing


def parts_of_xml(page: str) -> set[tuple[str, str]]:
    """Every (element, attribute) of XML, which must parse; "" for the element itself."""
    found = set()
    for element in ET.fromstring(page).iter():
        found |= {(str(element.tag), name) for name in ("", *element.keys())}
    return found


class Parts(HTMLParser):
    """Every (element, attribute) of HTML, as a browser would take it; how many scripts; its text."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: set[tuple[str, str]] = set()
        self.scripts = 0
        self.attributes: list[str] = []
        self.words: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        self.found |= {(tag, name) for name in ("", *dict(attrs))}
        self.attributes += [value for _, value in attrs if value]

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def handle_comment(self, data: str) -> None:
        self.found.add(("comment", data))

    def handle_decl(self, decl: str) -> None:
        self.found.add(("declaration", decl))

    unknown_decl = handle_pi = handle_decl


def lines(report: Report) -> Iterator[tuple[str, str]]:
    """Text and LaTeX of all arithmetic."""
    for frame in report.frames:
        for line in frame.lines:
            yield line.label + line.text, line.latex


# ──────────────────────────────────────────────────────────────────────────────────────────── what is shown


def test_there_are_a_thousand():
    assert len(TEXTS) == len(set(TEXTS)) == 1000 and set(PIECES) <= set(TEXTS)


@pytest.mark.sample(3)
def test_outline_and_steps(case):
    batch, report, _ = case
    shown = report.text(steps=True)
    check_text(shown)
    check_found(batch, shown)
    assert shown.count("\n") < 60 * SIZE, "a text broke its line"
    for frame in report.frames:
        check_text(frame.text + frame.label)
    with_widget = Stepper(report.acts, report.trace.source)
    check_text(with_widget.outline())
    json.dumps(with_widget._score, allow_nan=False).encode()
    with_widget.close()


@pytest.mark.sample(3)
def test_svg(case):
    batch, report, tamed = case
    svg = report.picture.svg()
    assert svg is not None, report.picture.problem
    assert parts_of_xml(svg) <= parts_of_xml(tamed.picture.svg())
    words = "".join(ET.fromstring(svg).itertext())
    check_text(words)
    check_found(batch, words)


@pytest.mark.sample(3)
def test_html(case):
    batch, report, tamed = case
    for page, other in (
        (report.html(), tamed.html()),
        (report.page(), tamed.page()),
        (report.html("static"), tamed.html("static")),
    ):
        page.encode()
        parts, expected = Parts(page), Parts(other)
        assert parts.found <= expected.found, parts.found - expected.found
        assert parts.scripts == expected.scripts
        alternative = max(parts.attributes, key=lambda value: value.count("\n"))
        check_text(alternative)
        check_found(batch, alternative)


@pytest.mark.sample(8)
def test_graphviz_draws_it(case):
    _, report, tamed = case
    ours, expected = (drawn(one.picture._dot(labels=True).source) for one in (report, tamed))
    assert (ours.count('class="node"'), ours.count('class="edge"')) == (
        expected.count('class="node"'),
        expected.count('class="edge"'),
    )
    assert {tag for tag, _ in parts_of_xml(ours)} <= {tag for tag, _ in parts_of_xml(expected)}
    check_text("".join(ET.fromstring(ours).itertext()))


def drawn(dot: str) -> str:
    return render(dot, "svg").decode()


@pytest.mark.sample(8)
def test_json(case):
    _, report, _ = case
    written = report.trace.to_json()
    assert Trace.from_json(written) == report.trace
    written.encode()


COMMAND = re.compile(r"\\(?:[a-zA-Z]+|.)", re.S)
WORDS_IN_LATEX = {
    "\\text", "\\textbackslash", "\\textasciitilde", "\\textasciicircum", "\\_", "\\{", "\\}", "\\$", "\\%",
    "\\#", "\\&", "\\ ", "\\backslash", "\\sim", "\\wedge", "\\mathit", "\\mathrm", "\\operatorname",
    "\\lbrace", "\\rbrace", "\\left", "\\right", "\\lt", "\\gt", "\\prime", "\\cdot", "\\partial", "\\frac",
}  # fmt: skip


@pytest.mark.sample(8)
def test_latex(case):
    _, report, tamed = case
    known = WORDS_IN_LATEX.union(*(COMMAND.findall(latex) for _, latex in lines(tamed)))
    for shown, latex in lines(report):
        check_text(shown)
        check_text(latex)
        assert set(COMMAND.findall(latex)) <= known, latex
        bare = COMMAND.sub("", latex)
        assert not re.search(r"[$#%]", bare), latex
        assert balanced(bare), latex


def balanced(latex: str) -> bool:
    """Whether every brace is closed, and none that was not opened."""
    depth = 0
    for char in latex:
        depth += (char == "{") - (char == "}")
        if depth < 0:
            return False
    return depth == 0


@pytest.mark.sample(6)
def test_markdown_of_the_steps(case):
    _, report, tamed = case
    shown, expected = (one.steps._repr_markdown_() for one in (report, tamed))
    check_text(shown)
    assert Parts(shown).found <= Parts(expected).found, Parts(shown).found
    prose = re.sub(r"(?<!\\)\$(?:[^$\\]|\\.)*\$", "", shown)
    assert re.findall(r"(?<!\\)\[[^]]*\]\(", prose) == [], "a link"
    assert shown.count("\n#") == expected.count("\n#"), "a heading"


@pytest.mark.full
def test_files(tmp_path):
    for turn in (0, 1):
        for i, batch in enumerate(BATCHES[:BOTH]):
            report = report_of(batch, turn)
            for ending in ("html", "svg", "dot", "txt", "json"):
                path = report.save(tmp_path / f"{turn}-{i}.{ending}")
                assert path.read_text(encoding="utf-8")


@pytest.mark.parametrize("style", ["graphviz", "torchviz"])
def test_other_styles(style):
    expected = parts_of_xml(tame_report(1, style=style).picture.svg())
    for batch in BATCHES[:BOTH]:
        svg = report_of(batch, 1, style=style).picture.svg()
        assert {tag for tag, _ in parts_of_xml(svg)} <= {tag for tag, _ in expected}


@pytest.mark.full
def test_in_korean_and_in_full():
    for batch in BATCHES[:BOTH]:
        report = report_of(batch, 1, lang="ko", detail="full", saved="all", direction="TB")
        check_text(report.text(steps=True))
        parts_of_xml(report.picture.svg())


def test_of_pytorch(torch):
    for batch in BATCHES[:BOTH]:
        batch = [text for text in batch if nameable(text) == text]  # it has no other name for the rest
        report = report_of(batch, 1, torch)
        check_text(report.text(steps=True))
        check_found(batch, report.text())
        parts_of_xml(report.picture.svg())


# ──────────────────────────────────────────────────────────────────────────────────── without a recorder


@pytest.mark.parametrize("batch", BATCHES[:BOTH], ids=range(BOTH))
def test_draw_with_names(batch):
    batch = [text for text in batch if not text.startswith("_")]  # such names are private
    tensors = {text: minigrad.ones((), requires_grad=True) for text in batch}
    picture = draw(*(t * 2 for t in tensors.values()), names=tensors)
    svg = picture.svg()
    plain = draw(*(t * 2 for t in tensors.values()), names={})
    assert parts_of_xml(svg) <= parts_of_xml(tame_report(0).picture.svg()) | parts_of_xml(plain.svg())
    for shown in (picture.outline(), "".join(ET.fromstring(svg).itertext())):
        check_text(shown)
        check_found(batch, shown)


@pytest.mark.parametrize("batch", BATCHES[:BOTH], ids=range(BOTH))
def test_make_dot(batch):
    cell = cell_of(batch, minigrad, turn=1)
    ran = run(cell.source, names=cell.names, watched=False)
    params = dict(cell.names["module"]._parameters)
    for shown in ({}, {"show_attrs": True, "show_saved": True}):
        dot = make_dot(tuple(ran.names["roots"]), params=params, **shown)
        tags = {tag.rpartition("}")[2] for tag, _ in parts_of_xml(drawn(dot.source))}
        assert tags <= {"svg", "g", "title", "polygon", "ellipse", "path", "text", "polyline"}
        edges = re.findall(r"^\t\w+ -> \w+$", dot.source, re.M)
        assert len(edges) == drawn(dot.source).count('class="edge"') > 2 * len(batch)


# ───────────────────────────────────────────────────────────────────────────────── what cells do to Python


class After(NamedTuple):
    """What a cell has left: what stands under it, how it failed, its plain variables, the process."""

    printed: str
    complained: str
    failed: str
    variables: dict[Any, str]
    process: list[Any]


PLAIN = (int, float, str, bool, type(None))
OTHERS = ("child", "folder", "before")  # are never the same
# What differs from run to run; and minigrad's own frames, which are others where somebody watches.
CHANCE = re.compile(
    r"0x[0-9a-f]+|<ipython-input-\d+-\w+>|Thread-\d+|#?%%autograd|# plain"
    rf'|  File "{re.escape(str(Path(minigrad.__file__).parent))}.*\n(    .*\n)+'
)


def session(folder: Any, library: Any, head: str) -> tuple[list[After], list[int]]:
    """Run all cells below a line, one after the other; how many outputs were displayed below each."""
    found, displayed = [], []
    with bare_shell(folder) as shell:
        shell.run_cell("%load_ext minigrad_viz")
        shell.push({"torch": library}, interactive=False)
        before = set(shell.user_ns)
        for cell in CELLS.values():
            shell.display_pub = CapturingDisplayPublisher()
            with capture_output(display=False) as output, calm(library):
                result = shell.run_cell(f"{head}\n{cell}", store_history=True)
            displayed.append(len(shell.display_pub.outputs))
            error = result.error_before_exec or result.error_in_exec
            texts = (CHANCE.sub("", COLOUR.sub("", text)) for text in (output.stdout, output.stderr))
            mine = {k: v for k, v in shell.user_ns.items() if k not in before and type(v) in PLAIN}
            names = [k for k in mine if type(k) is str and k[:1] != "_" and k not in OTHERS]
            plain = {k: CHANCE.sub("", repr(mine[k]))[:200] for k in names}
            after = After(*texts, type(error).__name__, plain, process(library))
            found.append(after)
        shell.run_cell("%unload_ext minigrad_viz")
    return found, displayed


def process(library: Any) -> list[Any]:
    """What cells can change of the process; of threads that are left a fixture of all tests tells."""
    own = [
        sys.gettrace(),
        sys.getprofile(),
        sys.getrecursionlimit(),
        os.getcwd(),
        locale.setlocale(locale.LC_ALL),
    ]
    modes = [library.is_grad_enabled(), library.get_default_dtype(), library.is_anomaly_enabled()]
    return [*own, *modes, len(sys.meta_path), threading.excepthook]


@pytest.mark.full
@pytest.mark.sample(16)
def test_cells_that_do_anything_to_python(library, tmp_path_factory, monkeypatch):
    """What they print, how they fail and what they leave is the same when they are watched."""
    monkeypatch.setattr(threading, "excepthook", threading.__excepthook__)  # not pytest's
    folder = tmp_path_factory.mktemp("ipython")
    (plain, none), (watched, shown) = (session(folder, library, head) for head in ("# plain", "%%autograd"))
    assert len(hostile_cells.CELLS) >= 99 and not any(none)
    for name, one, other in zip(CELLS, plain, watched, strict=True):
        for field, a, b in zip(After._fields, one, other, strict=True):
            if name == "recursion":
                b = b[: len(a)] if isinstance(b, str) else b  # that it could not be shown comes last
            assert a == b, f"{name}: {field}\n{a}\n--- watched ---\n{b}\n{CELLS[name]}"
    hidden = [name for name, count in zip(CELLS, shown, strict=True) if not count]
    assert hidden in ([], ["recursion"])  # a recorder, too, may find the stack full


# ──────────────────────────────────────────────────────────────────────────────────────────── in a browser


@pytest.mark.browser
@pytest.mark.skipif(bool(missing()), reason=missing())
def test_nothing_runs_in_a_browser():
    """Players of all pieces on one page: they start, are walked through and asked for details."""
    from playwright.sync_api import sync_playwright

    reports = [report_of(batch, turn) for batch in BATCHES[:BOTH] for turn in (0, 1)]
    said: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=BROWSER_OPTIONS)
        try:
            page = browser.new_page()
            page.on("pageerror", lambda error: said.append(str(error)))
            page.on(
                "console",
                lambda message: said.append(message.text) if message.type in ("error", "warning") else None,
            )
            page.on(
                "request",
                lambda request: (
                    said.append(request.url[:80])
                    if not request.url.startswith(("data:", "about:", "blob:"))
                    else None
                ),
            )
            page.on("dialog", lambda dialog: said.append(dialog.message))
            open_page(page, reports)
            assert page.evaluate("document.querySelectorAll('img').length") == 0, (
                "every picture became one of the page"
            )
            page.evaluate(WALK)
            hit, found = page.evaluate("String(window.__hit)"), set(page.evaluate(ELEMENTS))
            open_page(page, [tame_report(0), tame_report(1)])
            page.evaluate(WALK)
            strange = found - set(page.evaluate(ELEMENTS))
        finally:
            browser.close()
    assert (hit, said, strange) == ("undefined", [], set())


def open_page(page: Any, reports: list[Report]) -> None:
    """Show players and still pictures on one page, until all are there."""
    stills = [report.html("static") for report in reports[:2]]
    shown = "".join([*(report.html() for report in reports), *stills])
    page.set_content(f"<!DOCTYPE html><meta charset='utf-8'>{shown}", wait_until="load")
    count = "n => document.querySelectorAll('svg.mg').length == n"
    page.wait_for_function(count, arg=len(reports) + len(stills))


# Every element of the page with the names of its attributes.
ELEMENTS = """() => [...document.querySelectorAll('*')]
    .flatMap(e => [e.tagName, ...e.getAttributeNames().map(name => e.tagName + ' ' + name)])"""
# Goes to the end of every player, and opens the details of what can be clicked.
WALK = """() => {
    for (const box of document.querySelectorAll('[data-mgp]')) {
        const slider = box.querySelector('input[type=range]');
        for (const at of [1, Number(slider.max) >> 1, slider.max]) {
            slider.value = at;
            slider.dispatchEvent(new Event('input', {bubbles: true}));
        }
        for (const part of [...box.querySelectorAll('svg .card, svg .deck')].slice(0, 12))
            part.dispatchEvent(new MouseEvent('click', {bubbles: true}));
    }
}"""
