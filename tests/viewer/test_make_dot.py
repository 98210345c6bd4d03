"""make_dot(): torchviz's function, as a Digraph that displays without `dot`."""

from __future__ import annotations

import inspect
import re
import xml.etree.ElementTree as ET

import graphviz
import pytest

import minigrad
from minigrad_viz import Digraph, make_dot


def example(library):
    a = library.tensor([2.0, 3.0], requires_grad=True)
    b = library.tensor([6.0, 4.0], requires_grad=True)
    return a, b, 3 * a**3 - b**2


def nodes(dot) -> dict[str, tuple[str, str]]:
    """Label and color by name."""
    found = re.findall(
        r'^\t(\w+) \[label=(?:"((?:[^"\\]|\\.)*)"|(\w+)) fillcolor=(\w+)', dot.source, re.MULTILINE
    )
    return {name: (quoted or word, colour) for name, quoted, word, colour in found}


def test_any_digraph_shows_itself():
    dot = Digraph("steps")
    dot.edge("x", "y")
    assert issubclass(Digraph, graphviz.Digraph) and "<svg" in dot._repr_mimebundle_()["image/svg+xml"]


def test_the_signature_is_torchvizs():
    parameters = inspect.signature(make_dot).parameters
    assert list(parameters) == ["var", "params", "show_attrs", "show_saved", "max_attr_chars"]
    assert [p.default for p in parameters.values()][1:] == [None, False, False, 50]


@pytest.mark.quick
def test_the_documents_figure(library):
    """Q = 3a³ − b²: arrows in the direction of the forward pass, blue leaves, grey functions."""
    a, b, q = example(library)
    dot = make_dot(q, params={"a": a, "b": b})
    assert isinstance(dot, graphviz.Digraph)
    found = nodes(dot)
    by_colour = {
        c: sorted(label for label, colour in found.values() if colour == c) for _, c in found.values()
    }
    assert by_colour["lightblue"] == ["a\\n (2,)", "b\\n (2,)"]
    assert by_colour["lightgrey"] == [
        "AccumulateGrad", "AccumulateGrad", "MulBackward0", "PowBackward0", "PowBackward0", "SubBackward0",
    ]  # fmt: skip
    assert by_colour["darkolivegreen1"] == ["(2,)"]
    labels = {name: label for name, (label, _) in found.items()}
    arrows = [(labels[s], labels[t]) for s, t in re.findall(r"^\t(\w+) -> (\w+)", dot.source, re.MULTILINE)]
    assert sorted(arrows) == sorted([
        ("a\\n (2,)", "AccumulateGrad"), ("b\\n (2,)", "AccumulateGrad"), ("AccumulateGrad", "PowBackward0"),
        ("AccumulateGrad", "PowBackward0"), ("PowBackward0", "MulBackward0"), ("PowBackward0",
        "SubBackward0"),
        ("MulBackward0", "SubBackward0"), ("SubBackward0", "(2,)"),
    ])  # fmt: skip


def test_it_displays_without_dot(library, monkeypatch):
    monkeypatch.setenv("PATH", "")
    _, _, q = example(library)
    bundle = make_dot(q)._repr_mimebundle_()
    ET.fromstring(bundle["image/svg+xml"])
    assert "SubBackward0" in bundle["image/svg+xml"]


def test_saved_values(library):
    _, _, q = example(library)
    assert "exponent" not in make_dot(q).source
    attributes = make_dot(q, show_attrs=True).source
    assert "exponent: 3" in attributes and "self: [saved tensor] (2,)" in attributes
    assert "exponent: 3" not in make_dot(q, show_attrs=True, max_attr_chars=0).source
    boxes = [label for label, colour in nodes(make_dot(q, show_saved=True)).values() if colour == "orange"]
    assert boxes.count("self\\n (2,)") == 2
    q.sum().backward()
    assert "[freed]" in make_dot(q, show_attrs=True).source


def test_several_roots_and_leaves(library):
    a, _, q = example(library)
    colours = [colour for _, colour in nodes(make_dot((q, q.sum(), a))).values()]
    assert colours.count("darkolivegreen1") == 2 and colours.count("lightblue") == 3


def test_mistakes():
    for thing in (3, "q", None, [1.0]):
        with pytest.raises(TypeError, match="make_dot\\(\\) draws the graph of tensors"):
            make_dot(thing)
    with pytest.raises(ValueError, match="at least one tensor"):
        make_dot(())


def test_a_large_graph_is_refused():
    y = minigrad.ones(1, requires_grad=True)
    for _ in range(5001):
        y = y * 1.0
    with pytest.raises(ValueError, match="the graph has 5002 nodes; make_dot draws up to 5000"):
        make_dot(y)


@pytest.mark.parametrize("name", ['"];b', "<b>x</b>", "a\\nb", "a\nb", "a|{b}", "a & b", "한글", "", "\\"])
def test_hostile_names(name):
    x = minigrad.ones(1, requires_grad=True)
    dot = make_dot(x * 2, params={name: x})
    svg = dot._repr_mimebundle_()["image/svg+xml"]
    ET.fromstring(svg)
    shown = "".join(ET.fromstring(svg).itertext())
    assert name.replace("\n", "").replace(" ", "") in shown.replace("\n", "").replace("\u00a0", "").replace(
        " ", ""
    )
