"""Predictions: what a cell is asked, which wrong answers are understood, and what the others are told."""

from __future__ import annotations

import math
import re
from collections import Counter

import numpy as np
import pytest
import tiers
from cells import CELLS, run
from quiz_cells import cell

from minigrad_viz.flow.backward_pass import flow_of
from minigrad_viz.flow.engine import BackwardEngine
from minigrad_viz.model.scene import Scenes
from minigrad_viz.player.quiz import asked_in
from minigrad_viz.predicting.faulty_engines import FAULTS
from minigrad_viz.predicting.question import (
    GRAD,
    MOVES,
    PASSES,
    SIZE,
    Unreadable,
    answer_numbers,
    equal,
    judge,
    read_answer,
    read_names,
    read_shape,
    read_yes,
)
from minigrad_viz.predicting.questions import question_about, questions_of
from minigrad_viz.shell.report import Report
from minigrad_viz.words import CATALOGUES

COUNT = 300
NONSENSE = 123.456789
TWO_PATHS = CELLS[9]
PRODUCT = (
    "x = torch.tensor([[1., 2.], [3., 4.]], requires_grad=True)\n"
    "w = torch.tensor([[0.5, -1.], [2., 1.]], requires_grad=True)\n"
    "b = torch.tensor([1., 2.], requires_grad=True)\ny = x @ w + b\nz = (y * y).mean()\nz.backward()\n"
)


def questions(source, library):
    scenes = Scenes(run(source, library).trace)
    return questions_of(scenes, lang="en")


def test_every_backward_call_is_asked_about_but_only_two_rounds_of_a_loop(library):
    calls = "x = torch.tensor(2.0, requires_grad=True)\n" + "(x * x).backward()\n" * 4
    found = [question.truth for question in questions(calls, library) if question.kind == GRAD]
    assert found == [4.0, 8.0, 12.0, 16.0]
    loop = "x = torch.tensor(2.0, requires_grad=True)\nfor i in range(4):\n    (x * x).backward()\n"
    found = [question.truth for question in questions(f"{loop}(x * x).backward()\n", library)]
    assert [truth for truth in found if isinstance(truth, float)] == [4.0, 8.0, 20.0]


def the(source, library, subject="x.grad"):
    found = question_about(Scenes(run(source, library).trace), subject, lang="en")
    assert found is not None
    return found


def test_a_gradient_that_is_kept_is_asked_after_those_of_leaves(library):
    """Of a tensor that is not a leaf, with the wrong answers of one that is; the second call adds to it."""
    kept = "x = torch.tensor(3.0, requires_grad=True)\nh = x * x\nh.retain_grad()\ny = h * 2\nz = y + h * x\n"
    found = questions(f"{kept}z.backward(retain_graph=True)\nz.backward()\n", library)
    grads = [question for question in found if question.kind == GRAD]
    assert [(question.subject, question.truth) for question in grads] == [
        ("h.grad", 5.0), ("x.grad", 39.0), ("h.grad", 10.0), ("x.grad", 78.0),
    ]  # fmt: skip
    said = {wrong.key: wrong.answer for wrong in grads[2].wrong}
    assert said["quiz_forgets_before"] == 5.0 and said["quiz_one_path"] in (7.0, 8.0)
    assert "You followed the path through y only. h is used twice" in judge(grads[0], "2", lang="en").text
    assert the(f"{kept}z.backward()\n", library, "h.grad").truth == 5.0
    plain = kept.replace("h.retain_grad()\n", "")
    assert [q.subject for q in questions(f"{plain}z.backward()\n", library) if q.kind == GRAD] == ["x.grad"]


# ─────────────────────────────────────────────────────────────────────────────────────────────── random cells


@pytest.mark.sample(4)
@pytest.mark.quick(2)
@pytest.mark.parametrize("part", range(10))
def test_random_cells(part, library):
    """Every faulty engine's answer yields its own hint, and all that give the same are named. The right one
    is accepted. Nonsense gets the first step."""
    count = tiers.examples(COUNT)
    for seed in range(part, count, 10):
        source = cell(seed)
        gradients = [q for q in questions(source, library) if q.kind == GRAD]
        assert gradients, source
        for question in gradients:
            assert judge(question, question.truth, lang="en").right, source
            for wrong in question.wrong:
                judged = judge(question, wrong.answer, lang="en")
                same = {w.key for w in question.wrong if equal(wrong.answer, w.answer)}
                assert not judged.right and wrong.key in judged.keys and same <= set(judged.keys), source
                assert len(judged.hints) == len(set(judged.keys))
                assert judged.text == judged.hints[0]  # one, of however many
            nonsense = judge(question, np.full(np.shape(question.truth or 0), NONSENSE), lang="en")
            assert not nonsense.right and not nonsense.hints
            if question.parts:
                assert nonsense.keys == ("quiz_step_ask",) and nonsense.step == question.parts[0]


@pytest.mark.sample(4)
@pytest.mark.parametrize("part", range(10))
def test_the_right_engine_gives_what_was_recorded(part, library):
    for seed in range(part, tiers.examples(COUNT), 10):
        trace = run(cell(seed), library).trace
        scene = Scenes(trace).last
        engine = BackwardEngine(flow_of(scene)).run()
        for deposit in scene.now.deposits.values():
            after = np.reshape(deposit.after.items, deposit.after.shape)
            np.testing.assert_allclose(engine.grads[deposit.tensor], after, rtol=1e-4, atol=1e-5)


def test_what_a_gradient_held_is_known_before_anyone_runs_the_graph(library):
    source = "x = torch.tensor(2.0, requires_grad=True)\nx.grad = torch.tensor(5.0)\nz = x ** 3\n"
    scene = Scenes(run(source, library).trace).last
    (leaf,) = (id for id, name in scene.named.items() if name == "x")
    assert flow_of(scene).held(leaf).items == (5.0,)


@pytest.mark.full
def test_every_misconception_gives_an_answer_somewhere(library):
    """Each faulty engine says something else than the right one in a few random cells, or in three more."""
    more = [
        TWO_PATHS,
        PRODUCT,
        PRODUCT.replace(
            "z.backward()", "z.backward(retain_graph=True)\nx.grad.zero_()\nz.backward(torch.tensor(2.))"
        ),
    ]
    found = Counter(
        wrong.key
        for source in [*map(cell, range(40)), *more]
        for q in questions(source, library)
        for wrong in q.wrong
    )
    assert {fault.key for fault in FAULTS} <= found.keys()
    assert len(FAULTS) >= 12


def test_the_first_wrong_step_is_found(library):
    """With the gradients that somebody found on the way, the first that is wrong is named."""
    question = the(TWO_PATHS, library)
    assert [part.truth for part in question.parts] == pytest.approx([1, 1, 0.1, 0.008, 1, 0.6])
    for i, wrong in enumerate(question.parts):
        along = {f"{part.at}->{part.to}": part.truth for part in question.parts}
        along[f"{wrong.at}->{wrong.to}"] = NONSENSE
        judged = judge(question, NONSENSE, along, lang="en")
        assert judged.keys == ("quiz_step_wrong",) and judged.step == question.parts[i]
    right = {f"{part.at}->{part.to}": part.truth for part in question.parts}
    assert judge(question, NONSENSE, right, lang="en").keys == ("quiz_step_sum",)
    assert judge(question, NONSENSE, {"w": "1/10"}, lang="en").step == question.parts[0]


# ─────────────────────────────────────────────────────────────────────────────────────────── single questions


@pytest.mark.quick(6)
@pytest.mark.parametrize(
    "answer, key",
    [
        ("0.6", "quiz_one_path"), ("1", "quiz_one_path"), ("85", "quiz_no_upstream"), ("2", "quiz_no_local"),
        ("9.18", "quiz_adds_first"), ("1.6", "quiz_right"), ("8/5", "quiz_right"),
        ("75*0.008 + 10*.1", "quiz_right"),
        ("1,6", "quiz_step_ask"),  # a list, which has another shape
        ("none", "quiz_step_ask"), ("?", "quiz_read_number"),
    ],
)  # fmt: skip
def test_answers_as_they_are_typed(answer, key, library):
    assert key in judge(the(TWO_PATHS, library), answer, lang="en").keys


def test_the_missing_path_is_named_and_marked(library):
    question = the(TWO_PATHS, library)
    judged = judge(question, "0.6", lang="en")
    told = "You followed the path through y only. x is used twice: add the gradient from the path through w."
    assert judged.hints[0] == told and told in judged.text
    wrong = next(
        wrong for wrong in question.wrong if wrong.key == "quiz_one_path" and equal(wrong.answer, 0.6)
    )
    assert len(wrong.taken) == len(wrong.missing) == 3
    assert not set(wrong.taken) & set(wrong.missing)


def test_after_the_second_call(library):
    question = the(CELLS[7], library)
    assert question.truth == pytest.approx(1.2) and question.prompt[0] == "quiz_ask_again"
    assert "quiz_forgets_before" in judge(question, 0.6, lang="en").keys
    cleared = the(CELLS[8], library)
    assert "quiz_no_zero" in judge(cleared, 1.2, lang="en").keys and judge(cleared, 0.6)


def test_none_is_not_zero(library):
    question = the(CELLS[15], library)
    assert question.truth is None and question.prompt[0] == "quiz_ask_after"
    assert judge(question, None) and judge(question, "None") and not judge(question, "0")
    assert judge(question, 0, lang="en").keys == ("quiz_zero_for_none",)


def test_through_detach(library):
    source = "x = torch.tensor(3., requires_grad=True)\ny = x * x\nd = y.detach()\nz = d * x\nz.backward()\n"
    question = the(source, library)
    assert question.truth == pytest.approx(9)
    assert "quiz_ignores_detach" in judge(question, 27, lang="en").keys


@pytest.mark.quick
def test_what_runs_next(library):
    question = the(TWO_PATHS, library, "next")
    right = [name for name in question.choices if name.endswith("(b)")]
    assert judge(question, right[0]) and judge(question, "b") and judge(question, "SqrtBackward")
    assert judge(question, "a", lang="en").keys == ("quiz_next_recursion",)
    assert judge(question, "AccumulateGrad(x)", lang="en").keys == ("quiz_next_waits",)
    assert judge(question, "AddBackward0", lang="en").keys == ("quiz_next_ran",)


@pytest.mark.quick
def test_which_are_leaves(library):
    question = the(CELLS[14].replace("z.backward()\n", ""), library, "leaves")
    assert question.truth == ["w", "x", "z"]
    assert judge(question, "w and x, z") and judge(question, {"x", "w", "z"})
    assert set(judge(question, "x, y, w", lang="en").keys) == {"quiz_leaves_result", "quiz_leaves_quiet"}


def test_what_shape(library):
    question = the(PRODUCT, library, "y.shape")
    assert (
        judge(question, "(2, 2)")
        and judge(question, "2x2")
        and judge(question, (2, 2))
        and judge(question, "[2, 2]")
    )
    z = the(PRODUCT, library, "z.shape")
    assert judge(z, "()") and judge(z, ()) and judge(z, "(1,)", lang="en").keys == ("quiz_shape_one",)
    assert judge(z, "two", lang="en").keys == ("quiz_read_shape",)


def test_whether_it_raises(library):
    failing, fine = the(CELLS[6], library, "raises"), the(CELLS[7], library, "raises")
    assert judge(failing, "yes") and judge(failing, "RuntimeError") and not judge(failing, "no")
    assert (
        judge(fine, "no")
        and judge(fine, "아니요")
        and judge(fine, True, lang="en").keys == ("quiz_raises_loud",)
    )


def test_a_gradient_of_an_earlier_call_is_not_asked_as_none(library):
    """The last call of this cell does not reach w, whose `.grad` an earlier one wrote."""
    asked_of = [(q.subject, q.call) for q in questions(CELLS[16], library) if q.kind == GRAD]
    assert ("w.grad", 1) in asked_of and ("w.grad", 2) not in asked_of


@pytest.mark.sample(1)
def test_all_documented_cells_are_asked_and_answered(library):
    for number, source in CELLS.items():
        report = Report(run(source, library).trace, lang="en")
        for question in questions_of(report.scenes, report.explained, "en"):
            assert judge(question, question.truth, lang="en").right, (number, question.subject)
            for lang in CATALOGUES:
                for wrong in question.wrong:
                    answer = wrong.answer
                    assert judge(question, answer, lang=lang).text
                assert judge(question, "what?", lang=lang).text


# ────────────────────────────────────────────────────────────────────────────────────────────── typed answers


@pytest.mark.quick(6)
@pytest.mark.parametrize(
    "text, value",
    [
        ("0.6", 0.6), (" -3 ", -3), ("3/5", 0.6), ("75*0.008", 0.6), ("2**3", 8), ("2^3", 8), ("5²", 25),
        ("−1.5", -1.5), ("3·2", 6), ("3 × 2", 6), ("1e-3", 0.001), ("(1 + 2) * 3", 9), ("sqrt(4)", 2),
        ("torch.exp(0)", 1), ("ln(1)", 0), ("pi", math.pi), ("[1, 2.5]", [1, 2.5]), ("[1. 2.5]", [1, 2.5]),
        ("[[1, 2], [3, 4]]", [[1, 2], [3, 4]]), ("[[1. 2.] [3. 4.]]", [[1, 2], [3, 4]]),
        ("tensor([1., 2.])", [1, 2]), ("torch.tensor(0.6)", 0.6), ("None", None), ("none", None), ("x", "x"),
    ],
)  # fmt: skip
def test_what_is_typed(text, value):
    assert read_answer(text) == (pytest.approx(value) if isinstance(value, float) else value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "?",
        "0.6.1",
        "1 +",
        "[1, 2",
        "__import__('os')",
        "x.y.z",
        "9**9**9**9",
        "1/0",
        "'text'",
        "lambda: 1",
        "(" * 500,
    ],
)
def test_what_cannot_be_read(text):
    with pytest.raises(Unreadable):
        read_answer(text)


@pytest.mark.parametrize(
    "typed, truth, right",
    [
        ("0.0667", 1 / 15, True), ("0.067", 1 / 15, True), ("0.07", 1 / 15, False), ("0.07", 0.07, True),
        ("1.6", 1.6000000238418579, True), ("1.61", 1.6, False), ("1.609", 1.6094379, True), ("0", 0.0, True),
        ("0.01", 0.0, False), ("12", 12.4, True), ("13", 12.4, False),
        ("-0.12", -0.1234, True), ("-0.13", -0.1234, False), ("-0.123", -0.1234, True),
    ],
)  # fmt: skip
def test_as_a_person_rounds(typed, truth, right):
    assert equal(read_answer(typed), truth, typed) is right


def test_rows_of_different_lengths_are_no_numbers():
    assert answer_numbers([[1.0], [1.0, 2.0]]) is None and answer_numbers([[1.0], [2.0]]).shape == (2, 1)


def test_of_one_element_the_number_will_do():
    assert equal(8, [8.0]) and equal([8], [8.0]) and equal(8, [[8.0]])
    assert not equal([8], 8.0) and not equal(8, [8.0, 8.0]) and not equal([[8]], [8.0])


def test_shapes_names_and_words():
    assert read_shape("2×3") == read_shape("(2, 3)") == read_shape("2 x 3") == read_shape([2, 3]) == (2, 3)
    assert read_shape("()") == read_shape(()) == () and read_shape("3") == read_shape("(3,)") == (3,)
    assert read_names("x, w") == read_names("x and w") == read_names(["w", "x"]) == {"x", "w"}
    assert read_names("none") == read_names(None) == frozenset()
    assert read_yes("Yes.") and read_yes("예") and not read_yes("아니요") and not read_yes("no error")
    for wrong in ("2.5", "two"):
        with pytest.raises(Unreadable):
            read_shape(wrong)
    with pytest.raises(Unreadable):
        read_yes("perhaps")


# ─────────────────────────────────────────────────────────────────────────── nodes, layers and updates


LAYERS = (
    "torch.manual_seed(0)\nnn = torch.nn\n"
    "model = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 2))\n"
    "x = torch.tensor([[0.5, -1.0], [1.5, 0.3], [-0.7, 0.9]])\n"
    "opt = torch.optim.Adam(model.parameters(), lr=0.1)\n"
    "loss = nn.functional.cross_entropy(model(x), torch.tensor([0, 1, 0]))\nloss.backward()\nopt.step()\n"
)
DESCENT = (
    "w = torch.tensor(0.5, requires_grad=True)\nopt = torch.optim.SGD([w], lr=0.1)\nloss = (w * 2 - 3) ** 2\n"
    "loss.backward()\nopt.step()\n"
)


def test_the_chain_rule_is_asked_and_no_addition(library):
    found = [q for q in questions(CELLS[9], library) if q.kind == PASSES]
    assert [re.sub(r"\d\(", "(", q.subject) for q in found] == ["SqrtBackward(b)→w"]
    assert judge(found[0], "1/10", lang="en").right
    assert judge(found[0], "1", lang="en").keys == ("quiz_no_local",)


def test_a_model_is_asked_shapes_gradients_and_updates(library):
    found = {q.subject: q for q in questions(LAYERS, library)}
    assert found["0 Linear.output.shape"].truth == [3, 4] and found["2 Linear.output.shape"].truth == [3, 2]
    back = found["2 Linear.passes.shape"]
    assert back.truth == [3, 4] and judge(back, "(3, 2)", lang="en").keys == ("quiz_layer_same",)
    gets = found["gets"]
    names = [f"model.{i}.{part}" for i in (0, 2) for part in ("bias", "weight")]
    assert gets.truth == names and judge(gets, ", ".join(names), lang="en").right
    judged = judge(gets, ", ".join([*names[:3], "x", "loss"]), lang="en")
    assert sorted(judged.keys) == ["quiz_gets_missing", "quiz_gets_quiet", "quiz_gets_result"]
    assert "; and: " in judged.text
    (way,) = [q for q in found.values() if q.kind == MOVES]
    assert way.truth == "grow" and judge(way, "shrink", lang="en").keys == ("quiz_moves_uphill",)


def test_the_size_of_a_plain_step(library):
    (size,) = [q for q in questions(DESCENT, library) if q.kind == SIZE]
    assert judge(size, "1.3", lang="en").right and size.truth == pytest.approx(1.3)
    for typed, key in (("-0.3", "quiz_moves_uphill"), ("8.5", "quiz_size_rate"), ("-0.8", "quiz_size_step")):
        assert judge(size, typed, lang="en").keys == (key,)
    assert question_about(Scenes(run(DESCENT, library).trace), "w after opt.step()", lang="en").kind == SIZE


def test_every_cell_with_a_backward_has_three_questions(library):
    tiny = "x = torch.tensor(3.0, requires_grad=True)\nz = x ** 2\nz.backward()\n"
    for source in (
        tiny,
        tiny.replace("x ** 2", "x * 1"),
        LAYERS,
        DESCENT,
        *(CELLS[n] for n in (4, 7, 9, 10, 13, 16)),
    ):
        report = Report(run(source, library).trace, lang="en")
        calls = [view.call for view in report.views]
        asked = [each for i, act in enumerate(report.acts)
                 for each in asked_in(act, i, calls[i], report.questions, "en")]  # fmt: skip
        assert len(asked) >= 3, source
        assert [q["act"] for q in asked] == sorted(q["act"] for q in asked)
    second = next(q for q in questions(tiny, library) if q.subject == "twice")
    assert second.truth is True and judge(second, "no", lang="en").keys == ("quiz_twice_freed",)
    kept = next(q for q in questions(tiny.replace("x ** 2", "x + 1"), library) if q.subject == "twice")
    assert kept.truth is False


def test_shapes_may_not_let_an_imagined_engine_pass_a_gradient_on(library):
    source = "x = torch.ones(4, 3, requires_grad=True)\nz = (x @ torch.ones(3, 2)).sum()\nz.backward()\n"
    assert question_about(Scenes(run(source, library).trace), "nobody.knows") is None
