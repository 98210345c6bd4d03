"""The definition of the derivative as numbers and pictures."""

from __future__ import annotations

import functools
import html
import math
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest
from cells import run
from matplotlib.lines import AxLine

import minigrad
from minigrad_viz import derivative
from minigrad_viz.drawing.secants import Limit, Quotient, errors, image, secants, smallest_error
from minigrad_viz.trace.events import BackwardStarted, Forward


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
        return smallest_error(found._limit)[0]

    assert best(library.float64) < 1e-6 < 1e-4 < best(library.float32) < 1e-2


def test_the_tensor_stays_as_it_is(library):
    x = library.tensor([5.0], requires_grad=True)
    found = derivative(lambda x: (x * x).sum(), x)
    assert found.gradient == 10
    assert x.grad is None and x.requires_grad and x.tolist() == [5.0]


@pytest.mark.full
def test_functions_of_numbers():
    square = derivative(lambda x: x**2, 3, 0.5, lang="en")
    assert square.gradient == 6
    assert [q.slope for q in square.quotients] == [6.5]
    sine = derivative(math.sin, 1.0, lang="en")
    assert sine.gradient is None
    assert "autograd returns no gradient for f" in repr(sine)
    assert sine.errors[1e-6] == pytest.approx(-math.sin(1) / 2 * 1e-6, rel=1e-3)
    assert 'class="mgd' in sine._repr_html_()
    assert sine._repr_html_().count("<img") == 1  # no error of an error


def words_of(found):
    """The page without what its images are made of."""
    return re.sub(r'src="[^"]*"', "", found._repr_html_())


@pytest.mark.full
def test_where_x_and_x_plus_h_are_one(library):
    found = derivative(lambda x: x * x, library.tensor(5.0), (0.1, 1e-9), lang="en")
    assert math.isnan(found.quotients[1].slope)
    assert "For h = 1e-09, x + h equals x in float32" in repr(found)
    assert repr(found).splitlines()[-1].split() == ["1e-09", "–", "–"]
    assert "nan" not in words_of(found)


@pytest.mark.sample(1)
def test_where_f_has_no_value(library):
    found = derivative(lambda x: x.sqrt(), library.tensor(1.0), (-2.0, 1.0, 0.5), lang="en")
    assert math.isnan(found.quotients[0].slope) and math.isfinite(found.quotients[1].slope)
    assert "nan" not in words_of(found)
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


@functools.cache
def figures(name, lang="en"):
    """The plots of a function as images, and the figures that these were made of."""
    f, x, h = FUNCTIONS[name]
    limit = derivative(f, x, h)._limit
    shown = [figure for figure in (secants(limit, lang), errors(limit, lang)) if figure]
    return "".join(map(image, shown)), shown


def numbers(axis):
    """The labels of an axis, as far as they are in sight, and the offset that they leave out."""
    low, high = sorted(axis.get_view_interval())
    labels = [tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
    return [label for label in labels if label.get_text()]


@pytest.mark.full
@pytest.mark.sample(2)
@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_text_stays_inside_and_apart(name, lang):
    images, shown = figures(name, lang)
    told = re.findall(r'<img src="data:image/svg[^"]*" alt="([^"]+)">', images)
    assert shown and len(images) < 65_000
    assert all(figure.get_label() in html.unescape(alt) for figure, alt in zip(shown, told, strict=True))
    for figure in shown:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph")
            figure.draw_without_rendering()
        (axes,) = figure.axes
        texts = [axes.title, axes.xaxis.label, *numbers(axes.xaxis), *numbers(axes.yaxis)]
        texts += [text for legend in figure.legends for text in legend.get_texts()]
        boxes = [(text.get_window_extent(), text.get_text()) for text in texts]
        for i, (box, said) in enumerate(boxes):
            assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1, said
            assert figure.bbox.y0 <= box.y0 and box.y1 <= figure.bbox.y1, said
            assert not any(box.overlaps(other) for other, _ in boxes[:i]), said


@pytest.mark.full
def test_the_images_are_the_same_each_time():
    f, x, h = FUNCTIONS["log"]
    assert derivative(f, x, h)._repr_html_() == derivative(f, x, h)._repr_html_()


def test_secants_and_tangent_are_told_apart_without_colour():
    _, (figure, _) = figures("log")
    lines = [line for line in figure.axes[0].lines if isinstance(line, AxLine)]
    assert len({str(line.get_linestyle()) + str(line._unscaled_dash_pattern) for line in lines}) == 4
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert words == ["f(x)", "tangent → 0.6", "h = 4 → 0.44084", "h = 2 → 0.50471", "h = 1 → 0.54696"]
    assert "tangent → 0.6" in figure.get_label()


def test_secants_go_through_both_points():
    """The picture is drawn to scale: the lines go through the dots."""
    _, (figure, _) = figures("log")
    curve, *lines, there, here = figure.axes[0].lines
    x, y = here.get_xydata()[0]
    assert len(lines) == 4 and lines[0].get_slope() == pytest.approx(0.6)
    for line, (across, up) in zip(lines[1:], there.get_xydata(), strict=True):
        assert line.get_xy1() == (x, y)
        assert y + line.get_slope() * (across - x) == pytest.approx(up)
    assert np.interp(9.0, *curve.get_xydata().T) == pytest.approx(3 * math.log(9), abs=1e-2)


def test_both_ends_of_the_error_are_named_only_if_it_turns():
    _, (_, figure) = figures("log")
    assert figure.axes[0].get_xlabel().split() == ["←", "rounding", "h", "truncation", "→"]
    images, shown = figures("line")
    assert "rounding" not in images and len(shown) == 1


def limit(*sweep):
    quotient = Quotient(1.0, (2.0, 3.0), 2.0)
    return Limit((1.0, 1.0), "float64", (quotient,), 2.0, True, (), tuple(sweep))


def test_a_single_lucky_error_is_not_the_smallest():
    errors = [(10.0**-k, e) for k, e in enumerate([1, 0.1, 0.01, 0.02, 0.3, 0.0, 0.5])]
    assert smallest_error(limit(*errors))[0] == pytest.approx(0.01)
    assert smallest_error(limit(*errors[:3])) is None  # it only falls
    assert smallest_error(limit()) is None


@pytest.mark.full
@pytest.mark.sample(4)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_two_numbers_of_an_axis_look_alike(name):
    for figure in figures(name)[1]:
        for axis in (figure.axes[0].xaxis, figure.axes[0].yaxis):
            texts = [text.get_text() for text in numbers(axis)]
            assert len(texts) == len(set(texts)) >= 2


@pytest.mark.parametrize(("lang", "said"), [("en", "The plot needs Matplotlib"), ("ko", "Matplotlib이 필요")])
def test_without_matplotlib_the_table_remains(monkeypatch, lang, said):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    f, x, h = FUNCTIONS["log"]
    found = derivative(f, x, h, lang=lang)
    assert said in repr(found) and "minigrad-viz[lab]" in repr(found) and "0.44084" in repr(found)
    page = found._repr_html_()
    assert said in page and "minigrad-viz[lab]" in page and "<td>0.44084</td>" in page and "<img" not in page


def test_matplotlib_is_imported_on_use():
    code = (
        "import sys, minigrad_viz\nfound = minigrad_viz.derivative(lambda x: x * x, 2.0)\nprint(found)\n"
        "assert not any(name.startswith('matplotlib') for name in sys.modules)\n"
        "found._repr_html_()\n"
        "assert 'matplotlib.figure' in sys.modules and 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
