"""`explain()`: errors of code that nobody recorded, from their traceback and the graph that is left."""

from __future__ import annotations

import gc
import linecache
import subprocess
import sys
import textwrap
import types
import weakref
from pathlib import Path

import pytest
from cells import CELLS

import minigrad
import minigrad_viz
from minigrad_viz import explain
from minigrad_viz.recording.aftermath import trace_after
from minigrad_viz.shell.report import Report
from minigrad_viz.trace.events import BackwardStarted, CellFailed, Trace

pytest_plugins = ["magic_shell"]

CUBE = "x = torch.tensor(5.0, requires_grad=True)\ny = x ** 3\nz = torch.log(y)\n"
FUNCTION = "def train(loss):\n    loss.backward()\n\n" + CUBE + "train(z)\ntrain(z)\n"
HOOK = CUBE + "def hook(g):\n    raise ValueError('mine')\n\ny.register_hook(hook)\nz.backward()\n"


def failure(source: str, library=minigrad, names=None) -> BaseException:
    """The error that ends a program, whose source Python knows."""
    file = f"<program {hash(source)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    space = {"torch": library, "__name__": "__main__", **(names or {})}
    try:
        exec(compile(source, file, "exec"), space)
    except Exception as error:
        return error
    raise AssertionError("the program ended well")


def explained(source: str, library=minigrad, **options) -> str:
    return repr(explain(failure(source, library), lang="en", **options))


# ── what is known ───────────────────────────────────────────────────────────────────────────────────────────


def test_an_error_of_a_hook_is_that_of_its_line(library):
    error = failure(HOOK, library)
    trace = trace_after(error)
    (failed,) = [e for e in trace.events if isinstance(e, CellFailed)]
    assert failed.span is not None and failed.span.text == "raise ValueError('mine')"
    (started,) = [e for e in trace.events if isinstance(e, BackwardStarted)]
    assert started.span is not None and started.span.text == "z.backward()"
    assert "error: ValueError: mine" in repr(explain(error))


def test_a_call_that_the_library_makes_for_itself_is_not_taken_for_the_user_s():
    source = "def f(a):\n    return (a * 2).detach()\n\nx = torch.ones(2, requires_grad=True)\n"
    error = failure(source + "torch.autograd.functional.jacobian(f, x, strict=True)\n")
    assert not [e for e in trace_after(error).events if isinstance(e, BackwardStarted)]
    assert f"error: {type(error).__name__}: {error}" in repr(explain(error))


def test_without_the_source():
    """Code that came from nowhere has no lines."""
    try:
        exec(CELLS[6], {"torch": minigrad})
    except RuntimeError as error:
        told = repr(explain(error, lang="en"))
    assert "(line" not in told and "why: " in told and "z   4.8283   root" in told


def test_an_error_without_traceback():
    told = repr(explain(RuntimeError("bare"), lang="en"))
    assert told == "error: RuntimeError: bare\n\nThere is no explanation for this error."


def test_tensors_of_a_class_with_functions_of_its_own(torch):
    """PyTorch's modes and subclasses see nothing of the reading."""

    class Loud(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append(func)
            return super().__torch_function__(func, types, args, kwargs or {})

    seen: list[object] = []
    error = failure(CELLS[6].replace("torch.tensor(5.0, r", "Loud(torch.tensor(5.0)).r").replace(
        "requires_grad=True)", "requires_grad_()"
    ), torch, {"Loud": Loud})  # fmt: skip
    before = len(seen)
    assert "why: " in repr(explain(error, lang="en")) and len(seen) == before


# ── what it is ──────────────────────────────────────────────────────────────────────────────────────────────


def test_it_shows_itself():
    shown = explain(failure(CELLS[6]), lang="en", style="house")
    bundle = shown._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"} and bundle["text/plain"] == repr(shown)
    page = bundle["text/html"]
    assert page.index("<img") > page.index('class="mge"') and "data-mgp" not in page and "<table" not in page


def test_korean():
    told = repr(explain(failure(CELLS[6]), lang="ko"))
    assert "오류: RuntimeError: Trying" in told and "이유: " in told and "해결: " in told


def test_the_trace_goes_to_json_and_back():
    trace = trace_after(failure(CELLS[6]))
    assert not trace.recorded
    again = Trace.from_json(trace.to_json())
    assert again == trace and Report(again, lang="en").text() == Report(trace, lang="en").text()


def test_nothing_is_kept(library):
    """Neither tensors nor frames nor the error itself live on, not even until the next collection."""

    class Mine(Exception):
        pass

    names = {"Mine": Mine}
    source = FUNCTION.replace("loss.backward()", "local = Alive()\n    loss.backward()")
    again = "try:\n    train(z)\nexcept RuntimeError as e:\n    raise Mine from e"
    source = source.replace("train(z)\ntrain(z)", f"train(z)\n{again}")

    class Alive:
        pass

    gc.collect()
    gc.disable()
    try:
        error = failure(source, library, names | {"Alive": Alive})
        cause = error.__cause__
        frames = [error.__traceback__.tb_next.tb_frame, cause.__traceback__.tb_next.tb_frame]
        kept = weakref.ref(cause.__traceback__.tb_next.tb_frame.f_locals["local"])
        tensor = weakref.ref(frames[0].f_globals["x"])
        before = [sys.getrefcount(frame) for frame in frames]
        shown = [explain(error), explain(cause)]
        assert [sys.getrefcount(frame) for frame in frames] == before
        frames[0].f_globals.clear()
        error.__traceback__ = cause.__traceback__ = None
        del error, cause, frames
        assert kept() is None and tensor() is None
        assert all("error: " in repr(each) for each in shown)
    finally:
        gc.enable()


def test_nothing_is_run():
    """No property, no `__repr__` and no `__getattr__` of what the failing expression names."""
    source = textwrap.dedent("""
        class Box:
            @property
            def value(self):
                ran.append("value")
            def __getattr__(self, name):
                ran.append(name)
                raise AttributeError(name)
            def __repr__(self):
                ran.append("repr")
        def use(a, b):
            raise RuntimeError("stop")
        box = Box()
        x = torch.ones(2, requires_grad=True)
        use(box, x)
    """)
    ran: list[str] = []
    error = failure(source, names={"ran": ran})
    told = repr(explain(error))
    assert ran == [] and "error: RuntimeError: stop" in told


# ── which error ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def no_error_yet(monkeypatch):
    for name in ("last_exc", "last_value"):
        monkeypatch.delattr(sys, name, raising=False)


def test_there_was_no_error(no_error_yet):
    with pytest.raises(RuntimeError, match=r"^No error has occurred yet\.$"):
        explain(lang="en")
    with pytest.raises(TypeError, match=r"explain\(\) explains errors, not str"):
        explain("RuntimeError")


def test_the_error_that_is_being_handled_comes_before_the_last_one(monkeypatch):
    monkeypatch.setattr(sys, "last_value", ValueError("old"), raising=False)
    assert "ValueError: old" in repr(explain())
    try:
        raise KeyError("new")
    except KeyError:
        assert "KeyError: 'new'" in repr(explain())


def test_it_is_there():
    assert minigrad_viz.explain is explain and "explain" in minigrad_viz.__all__


# ── in IPython ──────────────────────────────────────────────────────────────────────────────────────────────


def test_after_a_cell(cell):
    cell("from minigrad_viz import explain")
    assert "Trying to backward" in cell(CELLS[6])
    told = cell("explain()")
    assert "z   4.8283   root" in told and "z.backward() (line 5)" in told and "fix: " in told
    assert "There is no explanation" in cell("1 / 0\n") + cell("explain()")


@pytest.mark.quick
def test_after_a_watched_cell_it_is_that_of_the_report(cell):
    cell("from minigrad_viz import explain")
    cell("%%autograd --no-table\n" + CELLS[6])
    told = cell("explain()")
    assert "z = log(y)   4.8283   root" in told and "(line 5)" in told and "(line 6)" in told, "as recorded"
    assert "오류: RuntimeError" in cell("explain(lang='ko')")
    assert "z = log(y)" not in cell(CELLS[6]) + cell("explain()"), "the same again, but not watched"


def test_as_a_word_of_the_magic(cell, front):
    cell(CELLS[6])
    assert "fix: " in cell("%autograd explain") and "%autograd explain" in cell("%autograd?")
    assert "on, off, cell, explain, torch or traceback" in cell("%autograd nonsense")
    cell("%config Autograd.lang = 'ko'")
    assert "오류: UsageError" in cell("%autograd explain")


def test_an_error_is_explained_while_the_magic_is_on(cell):
    cell("%autograd on")
    assert "why: " in cell("torch.tensor(1, requires_grad=True)")
    assert "made no tensor" not in cell("1 / 0")
    cell("%autograd off")


@pytest.mark.full
def test_in_a_program(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import minigrad as torch\nfrom minigrad_viz import explain\n"
        + CELLS[6].replace("z.backward()\nz.backward()", "z.backward()\ntry:\n    z.backward()")
        + "except RuntimeError as error:\n    print(explain(error))\n",
        encoding="utf-8",
    )
    root = Path(minigrad.__file__).parent.parent
    environment = {"MINIGRAD_LANG": "en", "PYTHONPATH": str(root), "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, str(program)], capture_output=True, encoding="utf-8", env=environment, timeout=60
    )
    assert "z.backward() (line 8)" in done.stdout and "z   4.8283   root" in done.stdout and done.stderr == ""


def test_a_module_of_the_user_s(tmp_path, monkeypatch):
    """The innermost frame of the user's may be in another file than the call."""
    (tmp_path / "helper.py").write_text("def go(loss):\n    return loss.backward()\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    error = failure("from helper import go\n" + CUBE + "go(z)\ngo(z)\n")
    monkeypatch.delitem(sys.modules, "helper")
    assert "loss.backward() (line 2)" in repr(explain(error, lang="en"))
    assert isinstance(error.__traceback__, types.TracebackType)
