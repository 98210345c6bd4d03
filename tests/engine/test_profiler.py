"""The profilers: a lesson that uses them runs, and is told that nothing was recorded."""

import warnings

import pytest

import minigrad as torch
from minigrad.autograd.profiler import NOTHING

pytestmark = pytest.mark.quick


def warning_texts(lesson):
    """The texts of the warnings that a function gives, and the files that they name."""
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        lesson()
    assert {w.filename for w in shown} <= {__file__}
    return [str(w.message) for w in shown]


def test_a_block_runs_and_the_table_says_that_there_is_none(tmp_path):
    x = torch.ones(3, requires_grad=True)

    def lesson():
        with (
            torch.autograd.profiler.profile(use_cuda=False, record_shapes=True) as prof,
            torch.autograd.profiler.record_function("square"),
        ):
            (x * x).sum().backward()
        assert prof.key_averages(group_by_input_shape=True).table(sort_by="cpu_time_total") == NOTHING
        assert prof.table(row_limit=10) == str(prof) == str(prof.key_averages()) == NOTHING
        assert list(prof.function_events) == prof.total_average() == []
        assert prof.self_cpu_time_total == prof.function_events.self_cpu_time_total == 0
        prof.export_chrome_trace(str(tmp_path / "trace.json"))
        prof.export_stacks(str(tmp_path / "stacks.txt"))

    texts = warning_texts(lesson)
    assert texts[0] == NOTHING and x.grad.tolist() == [2.0, 2.0, 2.0]
    assert [text.endswith("is not written.") for text in texts] == [False, True, True]
    assert "trace.json" in texts[1] and "stacks.txt" in texts[2] and not list(tmp_path.iterdir())


def test_a_block_in_a_loop_warns_once():
    def lesson():
        warnings.simplefilter("default")
        for _ in range(3):
            with torch.autograd.profiler.profile():
                pass

    assert warning_texts(lesson) == [NOTHING]


def test_a_profiler_that_is_off_says_nothing():
    def lesson():
        with torch.autograd.profiler.profile(enabled=False):
            pass

    assert warning_texts(lesson) == []


def test_the_later_form():
    from minigrad.profiler import ProfilerActivity, profile, record_function, schedule

    seen = []

    def lesson():
        with profile(
            activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
            schedule=schedule(wait=1, warmup=1, active=2, repeat=1),
            on_trace_ready=lambda p: seen.append((p.step_num, p.key_averages().table(row_limit=5))),
            profile_memory=True,
            with_stack=True,
        ) as prof:
            for _ in range(4):
                with record_function("step"):
                    torch.ones(2) + 1
                prof.step()
        assert prof.events() == []
        prof = profile(on_trace_ready=torch.profiler.tensorboard_trace_handler("./log"))
        prof.start()
        prof.stop()

    assert warning_texts(lesson) == [NOTHING, NOTHING, f"{NOTHING} ./log is not written."]
    assert seen == [(4, NOTHING)]


def test_a_function_with_a_name():
    @torch.autograd.profiler.record_function("double")
    def double(x):
        return 2 * x

    assert double(4) == 8


def test_errors_pass():
    with pytest.raises(ZeroDivisionError), torch.autograd.profiler.record_function("x"):
        raise ZeroDivisionError
    with pytest.raises(ZeroDivisionError), pytest.warns(UserWarning), torch.profiler.profile():
        raise ZeroDivisionError
