"""A question as data, answers as a person types them, and how an answer is judged.

Nothing is run: a text is read as an expression of numbers, a few functions and names.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..flow.backward_pass import Arrow
from ..protocol import is_tensor
from ..sources.pause import without_recording
from ..words import text
from .answer_log import note_answer

# ─── A question as data


GRAD, NEXT, LEAVES, SHAPE, RAISES = "grad", "next", "leaves", "shape", "raises"
PASSES, GETS, MOVES, SIZE = "passes", "gets", "moves", "size"  # a node, a call, and an update
MEETS, STORES = "meets", "stores"  # a step that is left to the reader: a sum, and what is added to a `.grad`
PASSED_ON = "passed on"  # instead of the node, in a question about the shape of what a layer passes on
# Wrong answers about names that are among those given; of all others a name is missing.
INCLUDED = ("quiz_leaves_result", "quiz_gets_result", "quiz_gets_quiet", "quiz_gets_cut")

Said = tuple[str, dict[str, Any]]  # a sentence: its key in the catalogue, and what is filled in


class Wrong(NamedTuple):
    """A wrong answer that somebody may give, and why. `key` is that of the misconception, `hint` says what
    went wrong; `taken` are the arrows that this answer follows, `missing` those that it forgets."""

    key: str
    answer: Any
    hint: Said
    taken: tuple[Arrow, ...] = ()
    missing: tuple[Arrow, ...] = ()


def wrong(key: str, answer: Any, **said: Any) -> Wrong:
    """A wrong answer whose hint is filled with what is `said`."""
    return Wrong(key, answer, (key, said))


class Part(NamedTuple):
    """One step on the way to an answer: over this `arrow` the node called `node`, at the tensor `at`, passes
    `truth` to the tensor `to`."""

    arrow: Arrow
    node: str
    at: str
    to: str
    truth: Any


class QuizQuestion(NamedTuple):
    """One question about the backward call `call` of a trace.

    `subject` is what is asked for, as one would type it (`x.grad`), and `prompt` the question. `time` is the
    event that answers it: what this and later events tell is to be hidden; `tensor` and `node` are what it is
    about. `wrong` are wrong answers that are understood, `parts` the steps on the way to the right one.
    `choices` are the words of an answer, where it is one of a few. `hint` helps before any answer, and
    `solution` says why the answer is right. Its answers are read and compared as those of the kind `answers`,
    which is one of the five above; "" stands for its own kind.
    """

    kind: str
    subject: str
    truth: Any
    prompt: Said
    solution: Said
    call: int
    time: int
    hint: Said
    tensor: str = ""
    node: str = ""
    wrong: tuple[Wrong, ...] = ()
    parts: tuple[Part, ...] = ()
    choices: tuple[str, ...] = ()
    answers: str = ""

    @property
    def form(self) -> str:
        """The kind of question whose form of answer this one shares."""
        return self.answers or self.kind


# ─── When two answers are the same


DIGITS = 3  # significant digits to which numbers have to agree


def same_answer(answer: object, truth: object, digits: int = DIGITS) -> bool:
    """Whether `answer` is `truth`: equal for None, True, False and text; to `digits` digits for numbers.

    Tensors, arrays and nested lists count as the numbers in them, and have to have the same shape. Lists with
    None among their items are compared item by item. Capital letters and blanks around a text do not matter.
    Sets and counts are equal if Python says so. False where the two cannot be compared.
    """
    if truth is None or isinstance(truth, bool):
        return answer is truth
    if isinstance(truth, str):
        return isinstance(answer, str) and answer.strip().lower() == truth.strip().lower()
    if isinstance(truth, set | frozenset | dict):
        return answer == truth
    if answer is None or isinstance(answer, bool):
        return False
    if isinstance(truth, list) and any(item is None for item in truth):
        whole = isinstance(answer, list | tuple) and len(answer) == len(truth)
        return whole and all(map(same_answer, answer, truth))  # type: ignore[call-overload]
    mine, theirs = answer_numbers(answer), answer_numbers(truth)
    if mine is None or theirs is None or mine.shape != theirs.shape:
        return False
    return bool(np.allclose(mine, theirs, rtol=0.5 * 10.0 ** (1 - digits), atol=1e-9, equal_nan=True))


def answer_numbers(answer: object) -> np.ndarray | None:
    """The numbers of a tensor, an array, a number or nested lists of these; None for anything else."""
    if isinstance(answer, list | tuple):
        rows = [answer_numbers(item) for item in answer]
        if any(row is None for row in rows) or len({row.shape for row in rows if row is not None}) > 1:
            return None
        return np.array(rows, dtype=np.float64)
    if is_tensor(answer):
        answer = answer.detach().tolist()  # type: ignore[attr-defined]
    elif not isinstance(answer, int | float | np.ndarray | np.number):
        return None
    try:
        return np.array(answer, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):  # complex numbers, text in an array, an enormous integer
        return None


# ─── What a person types, as data


OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}  # fmt: skip
FUNCTIONS: dict[str, Callable[[float], float]] = {
    "sqrt": math.sqrt, "exp": math.exp, "log": math.log, "ln": math.log, "sin": math.sin, "cos": math.cos,
    "tan": math.tan, "tanh": math.tanh, "abs": abs,
}  # fmt: skip
HOLDERS = ("tensor", "Tensor", "Size", "array", "list", "tuple", "set")  # `tensor([1., 2.])`
CONSTANTS = {"pi": math.pi, "inf": math.inf, "nan": math.nan}
GRAD_FN = re.compile(r",\s*grad_fn=<\w+>")  # in a tensor as it is printed
SIGNS = str.maketrans({"−": "-", "×": "*", "·": "*", "⋅": "*", "÷": "/", "^": "**", "²": "**2", "³": "**3"})
YES = ("yes", "y", "true", "raises", "예", "네", "응", "맞아요")
NO = ("no", "n", "false", "아니요", "아니오", "아뇨")
LARGEST = 100  # of an exponent, so that nobody waits for `9**9**9`
LONGEST = 2000  # characters of an answer


class Unreadable(ValueError):
    """A text that is not an answer of the kind that was asked for."""


def read_answer(text: str) -> Any:
    """A text as numbers, nested lists of these, None, or names. Unreadable for anything else."""
    if len(text) > LONGEST:
        raise Unreadable(text)
    written = GRAD_FN.sub("", text.strip().translate(SIGNS))
    if written.lower() == "none":
        return None
    spaced = re.sub(r"(?<=[\d.\]])\s+(?=[-\d.\[])", ", ", written)  # `[1. 2.]`, as tensors are printed
    for attempt in dict.fromkeys((written, spaced)):
        try:
            return evaluate(ast.parse(attempt, mode="eval").body)
        except (SyntaxError, ValueError, RecursionError, MemoryError, ArithmeticError, TypeError):
            continue
    raise Unreadable(text)


def evaluate(node: ast.expr) -> Any:
    """The value of an expression of numbers; a name is its text."""
    match node:
        case ast.Constant(value=int() | float() | None as value) if not isinstance(value, bool):
            return value
        case ast.Name(id=name):
            return CONSTANTS.get(name, name)
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return [evaluate(item) for item in items]
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -evaluate(inner)
        case ast.UnaryOp(op=ast.UAdd(), operand=inner):
            return +evaluate(inner)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            first, second = evaluate(left), evaluate(right)
            if isinstance(op, ast.Pow) and abs(second) > LARGEST:
                raise Unreadable("exponent")
            return OPERATORS[type(op)](float(first), float(second))
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[inner]) if name in HOLDERS:
            return evaluate(inner)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[inner]) if name in FUNCTIONS:
            return FUNCTIONS[name](float(evaluate(inner)))
    raise Unreadable(ast.unparse(node))


def read_shape(answer: Any) -> tuple[int, ...]:
    """A shape: `(2, 3)`, `2x3`, `[2, 3]`, `3`, `()`. Unreadable for anything else."""
    if isinstance(answer, str):
        sizes = re.fullmatch(r"\s*\(?\s*(\d+(?:\s*[x×*]\s*\d+)+)\s*\)?\s*", answer)
        answer = [int(n) for n in re.findall(r"\d+", sizes[1])] if sizes else read_answer(answer)
    found = [answer] if isinstance(answer, int | float) and not isinstance(answer, bool) else answer
    try:
        sizes_found = [float(size) for size in found]
    except (TypeError, ValueError):
        raise Unreadable(str(answer)) from None
    if any(size != int(size) for size in sizes_found):
        raise Unreadable(str(answer))
    return tuple(int(size) for size in sizes_found)


def read_names(answer: Any) -> frozenset[str]:
    """Names: `x, w`, `x and w`, `{"x", "w"}`, `none`. Unreadable for anything else."""
    if answer is None:
        return frozenset()
    if isinstance(answer, str):
        words = re.sub(r"\b(?:and|none)\b|(?:와|과)(?=\s)|\.(?!\w)|[\s,;{}()\[\]'\"]+", " ", answer).split()
        return frozenset(words)
    try:
        return frozenset(str(name) for name in answer)
    except TypeError:
        raise Unreadable(str(answer)) from None


def read_yes(answer: Any) -> bool:
    """Yes or no. Unreadable for anything else; the name of an error is a yes."""
    if isinstance(answer, bool):
        return answer
    word = str(answer).strip().strip(".!").lower()
    if word in NO or word.startswith(("no ", "no,", "아니")):
        return False
    if word in YES or word.endswith("error") or word.startswith(("yes", "예", "네")):
        return True
    raise Unreadable(str(answer))


def equal(answer: Any, truth: Any, written: str = "") -> bool:
    """Whether an answer is a truth, as a person rounds: to three digits, or to the digits that were written
    (at least two)."""
    mine, theirs = answer_numbers(answer), answer_numbers(truth)
    if mine is None or theirs is None:
        return same_answer(answer, truth)
    if not mine.shape and theirs.size == 1:  # of a tensor with one element the number alone will do
        theirs = theirs.reshape(())
    if mine.shape != theirs.shape:
        return False
    if same_answer(mine, theirs):
        return True
    noise = 1e-6 * float(np.max(np.abs(theirs[np.isfinite(theirs)]), initial=0))
    if bool(np.allclose(mine, theirs, rtol=0.5e-2, atol=noise, equal_nan=True)):
        return True
    return not mine.shape and round_as_answer(written, float(theirs)) == float(mine)


def round_as_answer(written: str, truth: float) -> float | None:
    """A truth, rounded to the digits of a decimal number as it was written; None for fewer than two."""
    plain = written.strip().translate(SIGNS).lstrip("+-")
    if not re.fullmatch(r"\d*\.?\d*", plain) or len(plain.replace(".", "").lstrip("0")) < 2:
        return None
    return round(truth, len(plain.partition(".")[2]))


# ─── What an answer is worth


class Judgment(NamedTuple):
    """The feedback on an answer. It counts as true if the answer is `right`.

    `keys` are the misconceptions that give this answer, `hints` a sentence for each; `text` is the first of
    these, since nobody makes two mistakes to get one number; of names, which can be wrong in several ways, it
    joins two. `step` is the first step that is wrong or not
    known yet, of an answer that no misconception gives.
    """

    right: bool
    text: str
    keys: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    step: Part | None = None

    def __bool__(self) -> bool:
        return self.right

    def __repr__(self) -> str:
        return self.text


def judge(
    question: QuizQuestion, answer: Any, along: Mapping[str, Any] | None = None, lang: str | None = None
) -> Judgment:
    """Judge an answer. `along` may have the gradients that the reader found on the way, by tensor."""
    try:
        given = without_recording(lambda: parse_answer(question, answer))
    except Unreadable:
        return Judgment(False, text(unreadable(question.form), lang), (unreadable(question.form),))
    written = answer if isinstance(answer, str) else ""
    if fits(question, given, question.truth, written):
        return Judgment(
            True, text("quiz_right", lang, solution=say(question.solution, lang)), ("quiz_right",)
        )
    found = [wrong for wrong in question.wrong if explains(question, given, wrong, written)]
    if found:
        told = {wrong.key: wrong for wrong in reversed(found)}  # of each misconception the first place
        kept = tuple(wrong for wrong in found if told[wrong.key] is wrong)
        hints = tuple(say(wrong.hint, lang) for wrong in kept)
        said = both_hints(hints, lang) if question.form == LEAVES else hints[0]
        return Judgment(False, said, tuple(wrong.key for wrong in kept), hints)
    return first_step(question, given, along or {}, lang)


def both_hints(hints: Sequence[str], lang: str | None) -> str:
    """Hints that all hold, as one sentence; at most two, so that it can be read."""
    if len(hints) < 2:
        return hints[0]
    return text("quiz_both", lang, first=hints[0].removesuffix("."), second=hints[1])


def parse_answer(question: QuizQuestion, answer: Any) -> Any:
    """An answer as data of the kind that was asked for."""
    if question.form == SHAPE:
        return list(read_shape(answer))
    if question.form == LEAVES:
        return sorted(read_names(answer))
    if question.form == RAISES:
        return read_yes(answer)
    if question.form == NEXT:
        return str(answer).strip()
    given = read_answer(answer) if isinstance(answer, str) else answer
    if given is not None and answer_numbers(given) is None:
        raise Unreadable(str(answer))
    return given


def explains(question: QuizQuestion, given: Any, wrong: Wrong, written: str) -> bool:
    """Whether an answer is the wrong one that is known. A wrong answer about names is one name that is among
    those given, or is not."""
    if question.form == LEAVES:
        return (wrong.answer[0] in given) == (wrong.key in INCLUDED)
    return fits(question, given, wrong.answer, written)


def fits(question: QuizQuestion, given: Any, truth: Any, written: str = "") -> bool:
    """Whether an answer is one that is known."""
    if question.form == NEXT:
        return names_node(given, truth, question)
    if question.form != GRAD:
        return bool(given == truth)
    return equal(given, truth, written)


def names_node(given: str, truth: str, question: QuizQuestion) -> bool:
    """Whether a node was named: as `LogBackward(a)`, or by its node or its tensor alone where no other that
    could be meant has the same."""
    plain = given.replace(" ", "").lower().replace(" at ", "(")
    for wanted in (truth.lower(), *parts(truth)):
        alike = [each for each in question.choices if wanted in (each.lower(), *parts(each))]
        if plain == wanted.replace(" ", "") and (len(alike) <= 1 or wanted == truth.lower()):
            return True
    return False


def parts(called: str) -> Iterator[str]:
    """The node and the tensor of `LogBackward(a)`, with and without the number at the node's end."""
    node, _, at = called.lower().partition("(")
    yield from (node, node.rstrip("0123456789"), at.removesuffix(")"))


def first_step(question: QuizQuestion, given: Any, along: Mapping[str, Any], lang: str | None) -> Judgment:
    """Of an answer that no misconception gives: the first step that is wrong, or that is to be looked at."""
    ends = [part.to for part in question.parts]
    for part in question.parts:
        names = [f"{part.at}->{part.to}", *([part.to] if ends.count(part.to) == 1 else [])]
        mine = next((along[name] for name in names if name in along), ...)
        if mine is ...:
            return at_step(part, "quiz_step_ask", lang)
        value = read_answer(mine) if isinstance(mine, str) else mine
        if not equal(value, part.truth, mine if isinstance(mine, str) else ""):
            return at_step(part, "quiz_step_wrong", lang)
    if not question.parts:
        return Judgment(False, text("quiz_no_fit", lang), ("quiz_no_fit",))
    return Judgment(False, text("quiz_step_sum", lang, x=question.subject), ("quiz_step_sum",))


def at_step(part: Part, key: str, lang: str | None) -> Judgment:
    """The feedback on a step."""
    return Judgment(False, text(key, lang, node=part.node, at=part.at, to=part.to), (key,), step=part)


def unreadable(form: str) -> str:
    """The key of the feedback on a text that is not an answer."""
    if form == SHAPE:
        return "quiz_read_shape"
    if form == RAISES:
        return "quiz_read_yes"
    return "quiz_read_names" if form == LEAVES else "quiz_read_number"


def say(said: Said, lang: str | None) -> str:
    """A sentence of the catalogue."""
    return text(said[0], lang, **said[1])


# ─── Questions in a terminal: as a list, and one after the other


def fair(questions: Sequence[QuizQuestion], failed: bool) -> tuple[QuizQuestion, ...]:
    """The questions that are still open where the error of a cell that `failed` is above them."""
    return tuple(q for q in questions if not (failed and q.kind == RAISES))


# Prompts that tell the answer of an earlier question, and what is asked in a list instead.
LISTED_AS = {
    "quiz_ask_again": "quiz_ask_after",
    "quiz_ask_size": "quiz_ask_value",
    "quiz_ask_moves": "quiz_ask_way",
}


def questions_text(questions: Sequence[QuizQuestion], lang: str | None = None) -> str:
    """The questions of a cell, numbered, each with how to answer it."""
    if not questions:
        return text("quiz_nothing", lang)
    lines = [text("quiz_title", lang)]
    for i, question in enumerate(questions, 1):
        code = f'predict("{question.subject}").check("…")'
        key, said = question.prompt
        prompt = say((LISTED_AS.get(key, key), said), lang)
        lines += [f"{i}. {prompt}", f"   {text('quiz_how', lang, code=code)}"]
    return "\n".join(lines)


def interview(
    questions: Sequence[QuizQuestion],
    ask: Callable[[str], str],
    tell: Callable[[str], object],
    lang: str | None = None,
) -> bool:
    """Ask one question after the other; `ask` gives what was typed. It goes on when the answer is right, or
    when nothing was typed, after the solution. False if nobody is there to answer."""
    for question in questions:
        tell(say(question.prompt, lang))
        while True:
            try:
                typed = ask(text("quiz_prompt", lang) + " ").strip()
            except EOFError:
                return False
            if not typed:
                tell(say(question.solution, lang))
                break
            if typed == "?":
                tell(say(question.hint, lang))
                continue
            judged = judge(question, typed, lang=lang)
            note_answer(question.subject, judged.right, judged.keys)
            tell(judged.text)
            if judged.right:
                break
    return True
