"""Formulas of lessons as MathML: every one of the course, and what each part becomes."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import course
import pytest

from minigrad_viz.sharing.mathml import mathml

CHILDREN = {
    "mfrac": 2, "msub": 2, "msup": 2, "msubsup": 3, "munder": 2, "mover": 2, "munderover": 3, "msqrt": 1,
}  # fmt: skip
LATEX = re.compile(r"\$\$(.+?)\$\$|\$([^$\n]+)\$", re.DOTALL)
WRITTEN = {
    r"\frac{1}{y}": "<mfrac><mrow><mn>1</mn></mrow><mrow><mi>y</mi></mrow></mfrac>",
    "x_i^2": "<msubsup><mi>x</mi><mi>i</mi><mrow><mn>2</mn></mrow></msubsup>",
    r"\sum_{i=1}^n": "<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow>"
    "<mrow><mi>n</mi></mrow></munderover>",
    "f'(w)": '<msup><mi>f</mi><mrow><mo>′</mo></mrow></msup><mo form="prefix" stretchy="false">(</mo>'
    '<mi>w</mi><mo form="postfix" stretchy="false">)</mo>',
    "= -1": '<mo>=</mo><mo form="prefix">−</mo><mn>1</mn>',
    "a - 1": "<mi>a</mi><mo>−</mo><mn>1</mn>",
    r"\text{if } x": "<mtext>if\N{NO-BREAK SPACE}</mtext><mi>x</mi>",
    r"\unknown": r"<mtext>\unknown</mtext>",
}  # fmt: skip


@pytest.mark.quick
@pytest.mark.parametrize("latex", WRITTEN)
def test_a_part_is_its_element(latex):
    written = re.fullmatch(r"<math[^>]*><mrow>(.*)</mrow></math>", mathml(latex))
    assert written[1] == WRITTEN[latex]


def test_every_formula_of_the_course():
    seen = 0
    for name in [*course.ALL, *(f"ko/{name}" for name in course.ALL)]:
        for cell in course.prose(name):
            for block, line in LATEX.findall(re.sub(r"`[^`]+`", "", cell.source)):
                tree = ElementTree.fromstring(mathml(block or line, bool(block)))
                assert "\\" not in "".join(tree.itertext()), (name, block or line)
                for part in tree.iter():
                    assert len(part) == CHILDREN.get(part.tag, len(part)), (name, block or line, part.tag)
                seen += 1
    assert seen > 2000
