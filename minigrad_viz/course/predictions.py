"""The questions of "Predict first" that a program answers: with a number, the name of a node, or an error.
The faulty engines know the usual mistakes."""

from __future__ import annotations

import functools
from typing import NamedTuple

from ..predicting.judging import Judged, judge, say
from ..predicting.question import QuizQuestion
from ..predicting.questions import asked
from ..shell.run import trace_source
from ..sources.unseen import unseen
from ..words import language


class Predicted(NamedTuple):
    """A program, and what is asked of it."""

    program: str
    subject: str


CUBE = "x = torch.tensor(5.0, requires_grad=True)\ny = x ** 3\nz = torch.log(y)\n"
PATHS = (
    "x = torch.tensor(5.0, requires_grad=True)\ny = x ** 3\nw = x ** 2\nz = torch.log(y) + torch.sqrt(w)\n"
    "z.backward()\n"
)
VECTOR = "x = torch.tensor(5.0, requires_grad=True)\ny = x * torch.tensor([2.0, 3.0, 5.0])\n"
CUT = VECTOR + "w = y.detach()\nw.requires_grad_()\nz = w @ torch.tensor([4.0, 7.0, 9.0])\nz.backward()\n"
TWO = (
    "a = torch.tensor([2.0, 3.0], requires_grad=True)\nb = torch.tensor([6.0, 4.0], requires_grad=True)\n"
    "Q = 3 * a ** 3 - b ** 2\n"
)
TWICE = "z.backward(retain_graph=True)\nz.backward()\n"
DOUBLED = "y.register_hook(lambda grad: grad * 2)\nz.backward()\n"
ONES = "Q.backward(gradient=torch.tensor([1.0, 1.0])"

PREDICTIONS = {
    "backward_gradient.predict": Predicted(TWO + ONES + ")\n", "a.grad"),
    "backward_inputs.predict": Predicted(TWO + ONES + ", inputs=[a])\n", "b.grad"),
    "code_04.predict": Predicted(CUBE + "z.backward()\n", "x.grad"),
    "code_06.predict": Predicted(CUBE + "z.backward()\nz.backward()\n", "raises"),
    "code_07.predict": Predicted(CUBE + TWICE, "x.grad"),
    "code_08.predict": Predicted(CUBE + TWICE.replace("\nz", "\nx.grad.zero_()\nz"), "x.grad"),
    "code_09.predict": Predicted(PATHS, "x.grad"),
    "code_13.predict": Predicted(VECTOR + "z = y @ torch.tensor([4.0, 7.0, 9.0])\nz.backward()\n", "x.grad"),
    "code_15.predict": Predicted(CUT, "x.grad"),
    "code_16.predict": Predicted(CUT + "y.backward(gradient=w.grad)\n", "x.grad"),
    "code_17.predict": Predicted(CUBE + "z.backward()\ntorch.autograd.grad(x.grad, x)\n", "raises"),
    "code_19.predict": Predicted(CUBE + DOUBLED, "x.grad"),
    "engine_compared.predict": Predicted(PATHS, "next"),
    "intro_composite.predict": Predicted(
        "x = torch.tensor([4.0], requires_grad=True)\ny = 2 * (x ** 2)\nz = y ** 2\nz.backward()\n", "x.grad"
    ),
    "intro_polynomial.predict": Predicted(
        "x = torch.tensor([4.0], requires_grad=True)\ny = x ** 2\ny.backward()\n", "x.grad"
    ),
}


@functools.cache
def question(name: str, lang: str) -> QuizQuestion:
    """What is asked under a name, from the trace of its program."""
    predicted = PREDICTIONS[name]
    report, _ = unseen(lambda: trace_source("import minigrad as torch; " + predicted.program, lang=lang))
    found = asked(report.scenes, predicted.subject, report.explained, lang)
    assert found is not None
    return found


def judged(name: str, answer: object) -> Judged:
    """An answer to a question of "Predict first", judged."""
    return judge(question(name, language()), answer, lang=language())


def prompt(name: str) -> str:
    """The question itself."""
    return say(question(name, language()).prompt, language())
