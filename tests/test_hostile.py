"""Names and sources that try to break out, from the cell to every text that is shown."""

from __future__ import annotations

import json
import unicodedata
import xml.etree.ElementTree as ET

import pytest
from cells import run

import minigrad
from minigrad_viz import make_dot
from minigrad_viz.run import Report
from minigrad_viz.widget import Stepper

NAMES = [
    "<script>alert(1)</script>", "</style><b>", '"quoted"', "it's", "]]>", "a & b", "&amp;",
    "two\nlines", "back\\slash",
    "{rec|ord}", '"];evil [label="x', "-->", "\u202eabc", "\u2066abc", "\x01", "\x1b[31m", "한글",
    "🙂", "{name}", "%s", " ", "",
    "x" * 5000,
]  # fmt: skip
CELL = """
class Base(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, text):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2, None

Hostile = type(name, (Base,), {})
x = torch.tensor(3.0, requires_grad=True)
y = Hostile.apply(x, NAME)
y.backward()
"""


@pytest.fixture(params=NAMES, ids=range(len(NAMES)))
def name(request):
    return request.param


def elements(page: str) -> set[str]:
    """The tags of a piece of HTML; one that is broken open would have others, or would not parse."""
    root = ET.fromstring(f"<page>{page}</page>")
    return {element.tag for element in root.iter()}


def check_text(text: str) -> None:
    for char in text:
        bad = unicodedata.category(char) in ("Cc", "Cs") or unicodedata.bidirectional(char) in (
            "RLO",
            "LRO",
            "RLI",
            "LRI",
        )
        assert char == "\n" or not bad, hex(ord(char))


def test_from_the_cell_to_what_is_shown(name):
    cell = run(CELL.replace("NAME", repr(name)), names={"name": name})
    assert cell.error is None
    report = Report(cell.trace, lang="en")
    for text in (report.text(), "\n".join(f.text for f in report.frames)):
        check_text(text)
    svg = report.picture.svg()
    assert svg is not None, report.picture.problem
    root = ET.fromstring(svg)
    assert not [e for e in root.iter() if e.tag.endswith(("script", "}b", "foreignObject", "}a"))]
    check_text("".join(root.itertext()).replace("\n", ""))
    page, _, rest = report.html().partition("<script>")
    assert rest.count("<script>") == 0 and "alert(1)</script>" not in page
    assert elements(page.replace("&nbsp;", " ").replace('px">', 'px"/>') + "</div>") == {"page", "div", "img"}
    json.dumps(cell.trace.to_json(), allow_nan=False)
    walk = Stepper(report.picture, report.frames)
    check_text(walk.outline())
    walk.close()


def test_through_graphviz(name):
    cell = run(CELL.replace("NAME", repr(name)), names={"name": name}, watched=False)
    dot = make_dot(cell.names["y"], params={name: cell.names["x"]}, show_attrs=True, show_saved=True)
    root = ET.fromstring(dot._repr_mimebundle_()["image/svg+xml"])
    assert not [e for e in root.iter() if e.tag.endswith(("script", "foreignObject"))]
    report = Report(
        run(CELL.replace("NAME", repr(name)), names={"name": name}).trace, style="graphviz", lang="en"
    )
    assert report.picture.svg() is not None, report.picture.problem
    assert report.picture.digraph.source.count(" -> ") == report.picture.digraph.source.count("s0 -> s1")


def test_variables_that_no_source_could_name():
    space = {"<i>x</i>": minigrad.ones((), requires_grad=True), 'a"b': minigrad.ones(())}
    report = Report(
        run("y = globals()['<i>x</i>'] * globals()['a\"b']\ny.backward()\n", names=space).trace, lang="en"
    )
    assert "<i>" not in report.html() and "<i>x</i>   1.   leaf" in report.text()
    ET.fromstring(report.picture.svg())
