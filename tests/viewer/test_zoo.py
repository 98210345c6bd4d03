"""The zoo of mistakes: each is named with its line and cause, and the fix that is proposed cures it; of the
right programs nothing is said."""

from __future__ import annotations

import functools

import pytest
from cells import run
from staged import explanations_of
from zoo import FAMILIES, MISTAKES
from zoo.mistake import Verdict, judged

RIGHT = sorted({mistake.program for mistake in MISTAKES.values()})

# The step of D's optimizer comes before the gradients that the second loss leaves in D, which nobody uses.
TWO_LOSSES = """\
nn = torch.nn
G, D = nn.Linear(2, 2), nn.Linear(2, 1)
opt_g, opt_d = [torch.optim.SGD(model.parameters(), lr=0.01) for model in (G, D)]
fake = G(torch.ones(4, 2))
loss_d = D(fake.detach()).mean() - D(torch.zeros(4, 2)).mean()
opt_d.zero_grad()
loss_d.backward()
opt_d.step()
loss_g = -D(fake).mean()
opt_g.zero_grad()
loss_g.backward()
opt_g.step()
"""
RIGHT.append(TWO_LOSSES)


@functools.cache
def verdict(name: str, library) -> Verdict:
    return judged(MISTAKES[name], library)


@functools.cache
def said_of(program: str, library) -> tuple[str, ...]:
    ran = run(program, library)
    assert ran.error is None
    return tuple(each.key for each in explanations_of(ran.trace, "en"))


def test_there_are_many():
    assert len(MISTAKES) == sum(len(family.MISTAKES) for family in FAMILIES) >= 120


@pytest.mark.quick(30)
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_explained_and_cured(library, name):
    assert verdict(name, library) == Verdict("", ())


@pytest.mark.parametrize("program", RIGHT, ids=range(len(RIGHT)))
def test_nothing_is_said_of_what_is_right(library, program):
    assert not said_of(program, library)


@pytest.mark.full
@pytest.mark.sample(1)
def test_precision_and_recall(library):
    """Recall: how many errors are explained with the line, the cause and a fix that works. Precision: how
    many of all explanations of wrong, cured and right programs are such. `pytest -s` shows them."""
    verdicts = [verdict(name, library) for name in MISTAKES]
    found = sum(not each.problem for each in verdicts)
    false = sum(len(each.false) for each in verdicts) + sum(len(said_of(p, library)) for p in RIGHT)
    wrong = sum(bool(each.problem) for each in verdicts)
    precision, recall = found / (found + wrong + false), found / len(verdicts)
    print(f"\n{library.__name__}: {len(verdicts)} mistakes, precision {precision:.3f}, recall {recall:.3f}")
    assert precision > 0.95 and recall > 0.95
