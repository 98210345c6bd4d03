"""The definition of the derivative as numbers and pictures."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from cells import run

import minigrad
from minigrad_viz import derivative
from minigrad_viz.drawing.plot import label, ticks
from minigrad_viz.drawing.secant import Limit, Quotient, smallest
from minigrad_viz.trace.events import BackwardStarted, Forward
from minigrad_viz.words import sans


def cube(library):
    return lambda x: library.log(x**3)


def code_2(library, h):
    """As the document computes it."""
    x, x2 = library.tensor(5.0), library.tensor(5.0 + h)
    return ((library.log(x2**3) - library.log(x**3)) / (x2 - x)).item()


H = (0.1, 0.01, 0.001, 1e-5, 1e-6)


def test_code_2(library):
    found = derivative(cube(library), library.tensor(5.0), H, lang="en")
    assert [q.slope for q in found.quotients] == [code_2(library, h) for h in H]
    assert [f"{q.slope:.4g}" for q in found.quotients] == ["0.5941", "0.5994", "0.5999", "0.5714", "0.5"]
    assert found.gradient == pytest.approx(0.6, rel=1e-7)
    assert found.value == pytest.approx(4.8283, abs=1e-4)
    assert list(found.errors) == list(H)
    lines = repr(found).splitlines()
    assert lines[0].startswith("f(x) = 4.8283 at x = 5., computed in float32.")
    assert re.search(r"^ *0\.001 +0\.5999 +-0\.0000954", repr(found), re.M)
    assert "rounding" in repr(found)


def test_double_precision_turns_later(library):
    def best(dtype):
        found = derivative(cube(library), library.tensor(5.0, dtype=dtype))
        return smallest(found._limit)[0]

    assert best(library.float64) < 1e-6 < 1e-4 < best(library.float32) < 1e-2


def test_the_tensor_stays_as_it_is(library):
    x = library.tensor([5.0], requires_grad=True)
    found = derivative(lambda x: (x * x).sum(), x)
    assert found.gradient == 10
    assert x.grad is None and x.requires_grad and x.tolist() == [5.0]


def test_functions_of_numbers():
    square = derivative(lambda x: x**2, 3, 0.5, lang="en")
    assert square.gradient == 6
    assert [q.slope for q in square.quotients] == [6.5]
    sine = derivative(math.sin, 1.0, lang="en")
    assert sine.gradient is None
    assert "f gives no gradient" in repr(sine)
    assert sine.errors[1e-6] == pytest.approx(-math.sin(1) / 2 * 1e-6, rel=1e-3)
    assert (
        'class="mgd' in sine._repr_html_() and sine._repr_html_().count("<svg") == 1
    )  # no error of an error


def test_where_x_and_x_plus_h_are_one(library):
    found = derivative(lambda x: x * x, library.tensor(5.0), (0.1, 1e-9), lang="en")
    assert math.isnan(found.quotients[1].slope)
    assert "In float32 x + h is x itself for h = 1e-09" in repr(found)
    assert repr(found).splitlines()[-1].split() == ["1e-09", "–", "–"]
    assert "nan" not in found._repr_html_()


def test_where_f_has_no_value(library):
    found = derivative(lambda x: x.sqrt(), library.tensor(1.0), (-2.0, 1.0, 0.5), lang="en")
    assert math.isnan(found.quotients[0].slope) and math.isfinite(found.quotients[1].slope)
    assert "nan" not in found._repr_html_()
    plain = derivative(math.sqrt, 1.0, (-2.0, 1.0))
    assert math.isnan(plain.quotients[0].slope)


@pytest.mark.parametrize(
    ("call", "kind", "said"),
    [
        (lambda L: derivative(cube(L), L.ones(2)), ValueError, r"x must have one element, not shape \(2,\)"),
        (lambda L: derivative(cube(L), L.tensor(5)), TypeError, "x must be floating point, not int64"),
        (lambda L: derivative(cube(L), L.tensor(5j)), TypeError, "x must be floating point, not complex64"),
        (lambda L: derivative(cube(L), "5"), TypeError, "x must be a number or a tensor, not str"),
        (lambda L: derivative(cube(L), True), TypeError, "x must be a number or a tensor, not bool"),
        (lambda L: derivative(cube(L), math.inf), ValueError, "x is inf"),
        (lambda L: derivative(cube(L), L.tensor(-1.0)), ValueError, r"f\(x\) is nan"),
        (lambda L: derivative(lambda x: x, 1.0, 0), ValueError, "h must be one or more numbers other than 0"),
        (
            lambda L: derivative(lambda x: x, 1.0, ()),
            ValueError,
            "h must be one or more numbers other than 0",
        ),
        (lambda L: derivative(lambda x: x, 1.0, [math.nan]), ValueError, "h must be one or more numbers"),
        (
            lambda L: derivative(lambda x: x.expand(2), L.tensor(1.0)),
            ValueError,
            r"not a tensor of shape \(2,\)",
        ),
        (lambda L: derivative(lambda x: x * 1j, L.tensor(1.0)), TypeError, "not a complex one"),
        (lambda L: derivative(lambda x: None, 1.0), TypeError, "f must give one real number, not NoneType"),
    ],
)
def test_what_is_refused(library, call, kind, said):
    with pytest.raises(kind, match=said):
        call(library)


def test_a_function_of_tensors_wants_one(torch):
    with pytest.raises(TypeError, match="f does not take a number; if it takes tensors, give x as one"):
        derivative(torch.log, 5.0)


def test_a_cell_is_shown_without_what_it_did(library):
    source = (
        "from minigrad_viz import derivative\nx = torch.tensor(5.0, requires_grad=True)\n"
        "g = derivative(lambda x: torch.log(x ** 3), x).gradient\ny = x * 2\n"
    )
    ran = run(source, library)
    assert ran.error is None and ran.names["g"] == pytest.approx(0.6)
    assert [e.op for e in ran.trace.events if isinstance(e, Forward)] == ["mul"]
    assert not [e for e in ran.trace.events if isinstance(e, BackwardStarted)]


# ── the pictures ────────────────────────────────────────────────────────────────────────────────────────────

FUNCTIONS = {
    "log": (lambda x: minigrad.log(x**3), minigrad.tensor(5.0), None),
    "sine": (math.sin, 1, None),
    "line": (lambda x: 2 * x, 3.0, 0.5),
    "level": (lambda x: x * 0 + 7, minigrad.tensor([1.0]), None),
    "steep": (lambda x: x**8, 2.0, (1.0, -1.0, 0.5)),
    "falling": (lambda x: -math.exp(x), -0.003, None),
    "tiny": (minigrad.log, minigrad.tensor(1e-8), None),
    "huge": (lambda x: x * x, 3e9, None),
    "at zero": (lambda x: x * x, 0.0, None),
    "close": (lambda x: x**3, 2.0, 1e-7),
}


def pictures(name, lang="en"):
    f, x, h = FUNCTIONS[name]
    page = derivative(f, x, h, lang=lang)._repr_html_()
    return page, [ET.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", page, re.S)]


SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_text_stays_inside_and_apart(name, lang):
    page, drawn = pictures(name, lang)
    assert drawn and len(page) < 12000
    for svg in drawn:
        width, height = float(svg.get("width")), float(svg.get("height"))
        assert svg.find(f"{SVG}title").text and svg.find(f"{SVG}desc").text
        boxes = []
        for text in svg.iter(f"{SVG}text"):
            wide = 7.3 * len(text.text) if "b" not in text.get("class") else sans(text.text, 12.5)
            x, y = float(text.get("x")), float(text.get("y"))
            x -= {"e": wide, "c": wide / 2}.get(text.get("class").split(" ")[-1], 0)
            boxes.append((x, y - 10, x + wide, y + 3, text.text))
        for i, (left, top, right, bottom, said) in enumerate(boxes):
            assert left >= -2 and right <= width + 2 and top >= 0 and bottom <= height, said
            for other in boxes[:i]:
                apart = right < other[0] or other[2] < left or bottom <= other[1] or other[3] <= top
                assert apart, (said, other[4])
        for path in svg.iter(f"{SVG}path"):
            numbers = list(map(float, re.findall(r"-?[\d.]+", path.get("d"))))
            assert all(-1 <= x <= width + 1 for x in numbers[::2])
            assert all(-1 <= y <= height + 1 for y in numbers[1::2])


def test_secants_and_tangent_are_told_apart_without_colour():
    _, (svg, _) = pictures("log")
    dashes = [p.get("stroke-dasharray") for p in svg.iter(f"{SVG}path") if p.get("class") in ("t", "s")]
    assert len(dashes) == len(set(dashes)) == 4
    words = [text.text for text in svg.iter(f"{SVG}text")]
    assert "tangent → 0.6" in words and "h = 4 → 0.44084" in words and "f(x)" in words
    assert "tangent → 0.6" in svg.find(f"{SVG}desc").text


def test_secants_go_through_both_points():
    """The picture is drawn to scale: from the dots of the secants the slopes come out again."""
    _, (svg, _) = pictures("log")
    circles = {c.get("class"): [] for c in svg.iter(f"{SVG}circle")}
    for c in svg.iter(f"{SVG}circle"):
        circles[c.get("class")].append((float(c.get("cx")), float(c.get("cy"))))
    (x0, y0) = circles["p"][0]
    lines = [p for p in svg.iter(f"{SVG}path") if p.get("class") == "s"]
    assert len(lines) == len(circles["q"]) == 3
    for line, (x, y) in zip(lines, circles["q"], strict=True):
        ax, ay, bx, by = map(float, re.findall(r"-?[\d.]+", line.get("d")))
        for px, py in ((x0, y0), (x, y)):
            assert ay + (by - ay) * (px - ax) / (bx - ax) == pytest.approx(py, abs=0.4)


def test_both_ends_of_the_error_are_named_only_if_it_turns():
    _, (_, errors) = pictures("log")
    words = [text.text for text in errors.iter(f"{SVG}text")]
    assert "← rounding" in words and "truncation →" in words
    page, drawn = pictures("line")
    assert "rounding" not in page and len(drawn) == 1


def limit(*sweep):
    quotient = Quotient(1.0, (2.0, 3.0), 2.0)
    return Limit((1.0, 1.0), "float64", (quotient,), 2.0, True, (), tuple(sweep))


def test_a_single_lucky_error_is_not_the_smallest():
    errors = [(10.0**-k, e) for k, e in enumerate([1, 0.1, 0.01, 0.02, 0.3, 0.0, 0.5])]
    assert smallest(limit(*errors))[0] == pytest.approx(0.01)
    assert smallest(limit(*errors[:3])) is None  # it only falls
    assert smallest(limit()) is None


@pytest.mark.parametrize("low", [-3.0, 0.0, 1e-9, 4.7, 1e7])
@pytest.mark.parametrize("span", [1e-6, 0.3, 7.0, 123.0])
def test_ticks_are_round_and_few(low, span):
    found = ticks(low, low + span)
    assert 2 <= len(found) <= 8
    assert all(low - 1e-9 * span <= t <= low + span * (1 + 1e-9) for t in found)
    step = found[1] - found[0]
    assert np.allclose(np.diff(found), step)
    texts = [label(t, step) for t in found]
    assert len(set(texts)) == len(texts) or span < 1e-3 * abs(low)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_two_numbers_of_an_axis_look_alike(name):
    for svg in pictures(name)[1]:
        for kind in ("m c", "m e"):
            texts = [text.text for text in svg.iter(f"{SVG}text") if text.get("class") == kind]
            assert len(texts) == len(set(texts)) >= 2
