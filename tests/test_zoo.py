"""The zoo of mistakes: each is named with its line and cause, and the fix that is proposed cures it; of the
right programs nothing is said."""

from __future__ import annotations

import pytest
from cells import run
from staged import explanations_of
from zoo import learning, numbers
from zoo.mistake import Mistake

MISTAKES: dict[str, Mistake] = {**learning.MISTAKES, **numbers.MISTAKES}
RIGHT = sorted({mistake.program for mistake in MISTAKES.values()})


def test_there_are_many():
    assert len(MISTAKES) == len(learning.MISTAKES) + len(numbers.MISTAKES) >= 45


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_explained_and_cured(library, name):
    mistake = MISTAKES[name]
    ran = run(mistake.broken, library)
    told = [each for each in explanations_of(ran.trace, "en") if each.key == mistake.key]
    assert len(told) == 1, [each.key for each in explanations_of(ran.trace, "en")]
    assert bool(ran.error) == bool(told[0].error)
    assert mistake.why in told[0].why and mistake.fix in told[0].fix
    lines = {span.line for span in (told[0].span, told[0].cause) if span is not None and not span.origin}
    assert mistake.line is None or mistake.line in lines
    cured = run(mistake.cured, library)
    assert cured.error is None
    assert not [(each.key, each.why) for each in explanations_of(cured.trace, "en")]
    assert eval(mistake.check, cured.names)


@pytest.mark.parametrize("program", RIGHT, ids=range(len(RIGHT)))
def test_nothing_is_said_of_what_is_right(library, program):
    ran = run(program, library)
    assert ran.error is None and not explanations_of(ran.trace, "en")


@pytest.mark.parametrize("name", MISTAKES)
def test_korean_says_the_same(name):
    trace = run(MISTAKES[name].broken).trace
    english, korean = explanations_of(trace, "en"), explanations_of(trace, "ko")
    assert [(e.key, e.span, e.cause) for e in english] == [(e.key, e.span, e.cause) for e in korean]
    assert all(any("가" <= char <= "힣" for char in each.why) for each in korean)
