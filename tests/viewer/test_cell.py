"""A watched cell behaves in every respect as it does without the magic; what is shown of it comes last."""

import os
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from bare_shell import bare_shell
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic_arguments import MagicArgumentParser
from IPython.display import display

from minigrad_viz.shell.cell import CellRunner
from minigrad_viz.trace.source_positions import Locator

COLOUR = re.compile(r"\x1b\[[\d;]*m")


def in_short(kind: str, message: str, traceback: list[str]) -> str:
    """The class of an error and the last line its traceback gives; of a UsageError its first sentence."""
    text = COLOUR.sub("", "\n".join(traceback))
    lines = re.findall(r"(?:In\[\d+\], |^ +Cell .*)line (\d+)", text, re.MULTILINE)
    return f"UsageError: {message.split('.')[0]}" if kind == "UsageError" else " @".join([kind, *lines[-1:]])


@pytest.fixture
def shell(monkeypatch, tmp_path):
    """A shell of its own for each test, with nothing of it left in the process afterwards."""
    show = lambda kind, error, traceback: print(in_short(kind.__name__, str(error), traceback))  # noqa: E731
    with bare_shell(tmp_path) as shell:
        monkeypatch.setattr(shell, "_showtraceback", show)
        yield shell


class Watch:
    """A runner that says when it begins and shows a picture at the end."""

    def __init__(self, shell: InteractiveShell, name: str = "watch"):
        self.shell, self.begun = shell, []
        parser = MagicArgumentParser(prog=f"%{name}", description="Watch a cell.")
        parser.color = False  # Python 3.14 would put color codes into the help
        parser.add_argument("--step", action="store_true", help="show it step by step")
        parser.add_argument("--title", default="picture", help="what to call it")
        self.runner = CellRunner(shell, name, self.begin, self.end, parser)
        self.runner.install()

    def begin(self, options, source, namespace):
        self.begun.append(SimpleNamespace(options=options, source=source, names=set(namespace)))
        print("auto " * options.automatic + "begin")
        return options.title

    def end(self, title, *, error, result_silenced):
        self.error = error
        display({"text/plain": "silent " * result_silenced + title + "!" * bool(error)}, raw=True)

    def run(self, *cells: str):
        """Runs cells as a front end does, and returns the result of the last."""
        return [self.shell.run_cell(cell, store_history=True) for cell in cells][-1]


@pytest.fixture
def watch(shell):
    return Watch(shell)


# What a session of cells, divided by "---", shows; "begin" and "picture" are what the magic adds.
SESSIONS = {
    # As any cell
    "%%watch\nprint('body')\ny = 6\ny * 7": "begin | body | Out[1]: 42 | picture",
    "1\n---\n%%watch\n2\n---\n_2, Out[1]": "Out[1]: 1 | begin | Out[2]: 2 | picture | Out[3]: (2, 1)",
    "%%watch\n이름 = '값'  # 주석\nprint(이름)\n이름 * 2": "begin | 값 | Out[1]: '값값' | picture",
    "%%watch\nfrom __future__ import annotations\ndef f(a: nowhere): pass": "begin | picture",
    "  %%watch\n\n  # nothing yet": "begin | picture",
    "%%watch\n!echo shell\n%time x = 1\nx": "begin | shell | timed | Out[1]: 1 | picture",
    # Errors, at their lines; and what follows is as before
    "%%watch --step\nx = 1\nx / 0\nx = 3\n---\nx": "begin | ZeroDivisionError @3 | picture! | Out[2]: 1",
    "x = 1\n---\n%%watch\nx = 2\ny = = 3\n---\nx": "SyntaxError @3 | Out[3]: 1",
    "%%watch\nx = 1\nreturn x\n---\nx": "begin | SyntaxError @3 | picture! | Out[2]: 1",
    # Top-level await
    "%%watch\nimport asyncio\nx = await asyncio.sleep(0, 7)\nx": "begin | Out[1]: 7 | picture",
    "%%watch\nraise KeyboardInterrupt\n---\n1": "begin | KeyboardInterrupt @2 | picture! | Out[2]: 1",
    "%%watch\nasync def f(): raise EOFError\nawait f()\n---\n1": "begin | EOFError @2 | picture! | Out[2]: 1",
    # Arguments that are wrong: the cell does not run and fails
    "%%watch --no\nx = 1\n---\nx": "UsageError: %%watch: unrecognized arguments: --no | NameError @1",
    "%%watch --title 'open\n1": "UsageError: %%watch: No closing quotation",
    "%%watch plus\n%%time\n1": "UsageError: %%watch: unrecognized arguments: plus",
    "%%time\n%%watch plus\n1": "timed | UsageError: %%watch: unrecognized arguments: plus",
    # Stacked with other cell magics
    "%%time\n%%watch\nx = 5\nx": "begin | timed | Out[1]: 5 | picture",
    "%%watch\n%%time\nx = 5\nx": "begin | timed | Out[1]: 5 | picture",
    "%%watch\n%%time\nx = 5\nx;": "begin | timed | silent picture",
    "%%time\n%%watch\n1 / 0": "begin | timed | ZeroDivisionError @1 | picture!",
    "%%watch\n%%time\n1 / 0": "begin | timed | ZeroDivisionError @1 | picture!",
    "%%time\n%%watch\nx = = 5\n---\n6": "SyntaxError @1 | Out[2]: 6",
    "%%watch\n%%time\nx = = 5\n---\n6": "begin | SyntaxError @1 | picture! | Out[2]: 6",
    "%%capture c\n%%watch\nprint(1)\n---\nc.stdout, len(c.outputs)": "Out[2]: ('begin\\n1\\n', 1)",
    "%%watch\n\n%%capture\nprint(1)": "begin | picture",
    "%%watch\n%%writefile /dev/null\n<no ''' Python;": "begin | Overwriting /dev/null | picture",
    # Cells inside cells, and the magic called by a program
    "%%watch\nrun('print(2); 1 / 0')\nprint(3)": "begin | 2 | ZeroDivisionError @1 | 3 | picture",
    "run('%%watch\\nprint(1)')\nprint(2)": "begin | 1 | picture | 2",
    "%%watch\nrun('%%watch --title in\\n1 / 0')": "begin | begin | ZeroDivisionError @2 | in! | picture",
    "%%watch --title outer\nlose('%%watch --title inner\\n1')": "begin | begin | Out[1]: 1 | inner | outer",
    "%%watch\nrun('')\nrun('  ')\n1\n---\n\n---\n2": "begin | Out[1]: 1 | picture | Out[2]: 2",
    "call('watch', '', 'z = 2\\nz * 2')": "begin | Out[1]: 4 | picture",
    "call('watch', '', 'z = 2\\nz;')": "begin | picture",
    "call('watch', '', 'z = 2\\n\\n1 / 0')": "begin | ZeroDivisionError @3 | picture!",
    "call('watch', '', 'z = = 2')": "SyntaxError @1",
    "%%watch\nfor i in (1, 2):\n    %watch cell --title again\ncall('watch', '', 'i = 7')": "begin | picture",
    "print(1)\n%watch cell --title late\nprint(2)": "1 | begin | 2 | late",
    # Every cell
    "%watch on --title T\n---\n2\n---\n3;": "auto begin | Out[2]: 2 | T | auto begin | silent T",
    "%watch on\n---\n%watch off\n---\n3": "auto begin | picture | Out[3]: 3",
    "%watch on\n---\nx = = 1\n---\n%%time\n1;\n---\n \n---\n'가": "SyntaxError @1 | timed | SyntaxError @1",
    "%watch on\n---\n%%watch\n1;\n---\nrun('2')": "begin | silent picture | auto begin | Out[3]: 2 | picture",
    "%watch on --no": "UsageError: %watch on: unrecognized arguments: --no",
    "%watch bogus": "UsageError: %watch takes on, off, cell or traceback, not 'bogus'",
}


@pytest.mark.parametrize("cells", SESSIONS)
def test_session(watch, capsys, cells):
    def lose(cell):  # a cell whose end is never announced
        with pytest.raises(StopIteration):
            shell.run_cell_async(cell, transformed_cell=shell.transform_cell(cell)).send(None)

    shell = watch.shell
    shell.user_ns.update(run=lambda cell: shell.run_cell(cell) and None, call=shell.run_cell_magic, lose=lose)
    watch.run(*cells.split("\n---\n"))
    out, err = capsys.readouterr()
    shown = re.sub(r"CPU times.*\nWall time.*", "timed", out + err)
    assert " | ".join(filter(None, shown.splitlines())) == SESSIONS[cells]
    assert watch.runner._cells == []


def test_body_runs_once_after_begin(watch):
    cells = (f"{top}\nruns += [1]" for top in ("%%watch", "%%watch\n%%time", "%%time\n%%watch"))
    watch.run("runs = []", *cells)
    assert watch.shell.user_ns["runs"] == [1, 1, 1]
    result = watch.run(cell := "%%watch\nafter = 2\n1 / 0")
    assert watch.begun[-1].source == cell + "\n" and {"runs", "after"} & watch.begun[-1].names == {"runs"}
    assert watch.error is result.error_in_exec and isinstance(watch.error, ZeroDivisionError)
    assert watch.shell.history_manager.input_hist_raw[-1] == cell


def test_traceback_is_the_one_without_the_magic(watch, capsys, monkeypatch):
    show = lambda *error: print(COLOUR.sub("", "\n".join(error[2])))  # noqa: E731
    monkeypatch.setattr(watch.shell, "_showtraceback", show)
    body = "def f(v):\n    return 1 / v\nf(1)\n\n\n\nf(0)"
    watch.run("# a comment\n" + body)
    shown = capsys.readouterr().out
    watch.run("%%watch\n" + body)
    watched = capsys.readouterr().out.replace("#%%watch", "# a comment")
    assert "In[1], line 8" in shown and watched == f"begin\n{shown.replace('In[1]', 'In[2]')}picture!\n"


def test_bad_arguments_and_missing_bodies_fail_the_cell(watch):
    result = watch.run("%%watch --no\nx = 1")
    message = "%%watch: unrecognized arguments: --no. The cell was not run; %%watch? lists the options."
    assert not result.success and isinstance(result.error_in_exec, UsageError)
    assert result.error_in_exec._render_traceback_() == [f"UsageError: {message}"]
    result = watch.run("%%watch --step")
    assert isinstance(result.error_in_exec, UsageError) and "body is empty" in str(result.error_in_exec)
    assert watch.begun == []


def test_arguments_are_taken_as_written(watch):
    watch.run("x = 5", "%%watch\t--title '합 {x} $x \"q\"'   \nx")
    assert vars(watch.begun[0].options) == {"step": False, "title": '합 {x} $x "q"', "automatic": False}


@pytest.mark.parametrize("cell", ["%%watch?", "%watch?", "%%watch?\nx = 1"])
def test_help_shows_the_options(watch, capsys, cell):
    watch.run(cell)
    out = COLOUR.sub("", capsys.readouterr().out)
    assert "%%watch [--step] [--title TITLE]\n\nWatch a cell.\n" in out
    assert "show it step by step" in out and "%watch on [options]" in out
    assert watch.begun == [] and "\x1b" not in watch.runner._magic.__doc__


def test_terminal_waits_for_the_rest_and_silent_cells_show_nothing(watch, capsys):
    check = watch.shell.input_transformer_manager.check_complete
    for text in ("%%{} -n1", "%%{} -n1\nx = 1", "%%{} -n1\nx = 1\n\n"):
        assert check(text.format("watch")) == check(text.format("timeit"))
    assert watch.shell.run_cell("%%watch\nx = 3", silent=True).success
    assert watch.shell.user_ns["x"] == 3 and watch.begun == [] and capsys.readouterr().out == ""


def test_run_that_ends_without_a_result(watch):
    """What a kernel announces when the task of an asynchronous cell fails."""
    watch.shell.events.trigger("pre_run_cell", SimpleNamespace(raw_cell="%%watch\nx"))
    watch.shell.run_line_magic("watch", "cell")
    try:
        raise TimeoutError
    except TimeoutError as error:
        watch.shell.events.trigger("post_run_cell", None)
        assert watch.error is error
    assert watch.runner._cells == []


def fail(*_args, **_options):
    raise ValueError("no\nroom")


def test_after_a_begin_that_fails_the_cell_runs_as_it_is(watch, capsys, monkeypatch):
    monkeypatch.setattr(watch.runner, "_begin", fail)
    warning = (
        "%%watch could not watch this cell, which runs as it is: ValueError: no room (see %watch traceback)"
    )
    for cell in ("%%watch\nprint('ran')\n5", "%%watch\n%%time\nprint('ran')\n5"):
        assert watch.run(cell).result == 5
        out, err = capsys.readouterr()
        assert out.startswith("ran\n") and err == f"{warning}\n"
    assert watch.run("%watch on", "4").result == 4
    assert capsys.readouterr().err.startswith("%watch on could not watch this cell: ValueError: no room (")
    assert not hasattr(watch, "error")


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt, UsageError])
def test_end_that_fails_hides_nothing(watch, capsys, monkeypatch, kind):
    def end(*_args, **_options):
        raise kind("no\nroom")

    monkeypatch.setattr(watch.runner, "_end", end)
    assert watch.run("%%watch\n5").result == 5
    warning = f"%%watch could not show this cell: {kind.__name__}: no room (see %watch traceback)\n"
    assert capsys.readouterr() == ("begin\nOut[1]: 5\n", warning)
    watch.run("%%watch\n1 / 0")
    assert capsys.readouterr() == ("begin\nZeroDivisionError @2\n", warning)
    watch.run("%watch traceback")
    assert 'raise kind("no\\nroom")' in capsys.readouterr().out
    monkeypatch.setenv("MINIGRAD_LANG", "ko")
    watch.run("%%watch\n5")
    told = f"%%watch: 이 셀을 보여 줄 수 없습니다: {kind.__name__}: no room (위치는 %watch traceback)\n"
    assert capsys.readouterr().err == told


# ------------------------------------------------------------------------------------------- coming and going


def traces(shell: InteractiveShell) -> dict[str, int]:
    """How much of everything the shell holds that an extension can add to."""
    manager, inputs = shell.magics_manager, shell.input_transformer_manager
    held = {"line": manager.magics["line"], "cell": manager.magics["cell"], "user": vars(manager.user_magics)}
    held |= {"lines": inputs.line_transforms, "cleanup": inputs.cleanup_transforms}
    held |= {"post": shell.input_transformers_post, "configurables": shell.configurables}
    return {name: len(things) for name, things in (held | shell.events.callbacks).items()}


def test_uninstalling_leaves_nothing(shell):
    before = traces(shell)
    watch = Watch(shell)
    during = traces(shell)
    changed = {name for name in before if before[name] != during[name]}
    assert changed == {"line", "cell", "user", "lines", "pre_run_cell", "post_run_cell"}
    watch.runner.install()
    assert traces(shell) == during
    watch.run("%watch on")
    watch.runner.uninstall()
    watch.runner.uninstall()
    assert traces(shell) == before and not watch.run("%%watch\nx = 1").success
    watch.runner.install()
    assert traces(shell) == during and watch.run("6", "%%watch\n7").result == 7 and len(watch.begun) == 1


def test_runners_of_one_name_replace_each_other_and_of_two_names_do_not(shell):
    first = Watch(shell)
    during = traces(shell)
    second = Watch(shell)
    first.runner.uninstall()
    second.run("%%watch\nx = 1")
    assert traces(shell) == during and (len(first.begun), len(second.begun)) == (0, 1)
    other = Watch(shell, "other")
    other.run("%%watch\n%%other\nx = 2", "%%other\nx = 3")
    assert (len(second.begun), len(other.begun)) == (2, 2)
    other.runner.uninstall()
    assert traces(shell) == during and second.run("%%watch\nx").result == 3
    shell.register_magic_function(lambda line, cell=None: "somebody else's", "line_cell", "watch")
    second.runner.uninstall()
    assert shell.run_cell_magic("watch", "", "x") == "somebody else's"


EXTENSION = """
from minigrad_viz.shell.cell import CellRunner
def load_ipython_extension(shell):
    global runner
    runner = CellRunner(shell, "watch", lambda *_: print("begin"), lambda *_, **__: print("end"))
    runner.install()
def unload_ipython_extension(shell):
    runner.uninstall()
"""


def test_extension_loaded_reloaded_and_unloaded(shell, tmp_path, monkeypatch, capsys):
    (tmp_path / "an_extension.py").write_text(EXTENSION)
    monkeypatch.syspath_prepend(tmp_path)
    shell.run_cell("%unload_ext nothing")  # IPython itself adds to its configurables on first use
    before = traces(shell)
    shell.run_cell("%load_ext an_extension")
    during = traces(shell)
    for command in ("load_ext", "reload_ext", "load_ext", "reload_ext"):
        shell.run_cell(f"%{command} an_extension")
        assert traces(shell) == during != before
    sys.modules["an_extension"].load_ipython_extension(shell)
    assert traces(shell) == during
    shell.run_cell("%%watch\nprint('body')\n%unload_ext an_extension\nprint('rest')")
    assert (
        capsys.readouterr().out.split()[-4:] == ["begin", "body", "end", "rest"] and traces(shell) == before
    )
    del sys.modules["an_extension"]


# Text, line and source number of every call of `look`
PLACES = {
    "%%watch\n%time look(0)\ny = look(1)": "%time look(0) 2 0, look(1) 3 0",
    "\n In [3]: %%watch\n    ...: look(1)": "look(1) 2 0",
    "%%time\n\n%%watch\n!true\ny = look(1)\nlook(y)": "look(1) 3 0, look(y) 4 0",
    "%%watch\n%%time\n\ny = look(1)\nlook(y)": "look(1) 1 0, look(y) 2 0",
    "%%watch\nif 1:\n    %time look(7)\n    '가'; look(8)": "%time look(7) 3 0, look(8) 4 0",
    "%%watch\nimport asyncio\nawait asyncio.sleep(0)\nlook(3)": "look(3) 4 0",
    "%%watch\nearlier()\nexec('x = look(1)')": "look('earlier') 3 1, exec('x = look(1)') 3 0",
    "%%watch\n%alias_magic --cell t \\\n  time\nlook(2)": "look(2) 3 0",  # two lines run as one
}


@pytest.mark.parametrize("cell", PLACES)
def test_places_in_the_source_of_a_cell(shell, cell):
    sources, spans = [], []

    def begin(_options, source, namespace):
        locator = Locator(source, namespace)
        namespace["look"] = lambda _: spans.append(locator.at(sys._getframe(1)).span)
        sources.append(source)

    CellRunner(shell, "watch", begin, lambda *_, **__: None).install()
    shell.run_cell("# an earlier cell\ndef earlier():\n    look('earlier')")
    assert shell.run_cell(cell).success and len(sources) == 1
    assert ", ".join(f"{span.text} {span.line} {span.origin}" for span in spans) == PLACES[cell]
    assert all(span.text in sources[0].splitlines()[span.line - 1] for span in spans if span.origin == 0)


# ------------------------------------------------------------------------------------------- in a real kernel

SETUP = """
from IPython.display import display
from minigrad_viz.shell.cell import CellRunner
begin = lambda options, source, namespace: f"picture of {len(source.splitlines())} lines"
end = lambda text, **_: display({"text/plain": text}, raw=True)
CellRunner(get_ipython(), "watch", begin, end).install()
"""
INTERRUPT = "import asyncio, os, signal, time\nos.kill(os.getpid(), signal.SIGINT); "
KERNEL = {
    "%%watch\nprint('본문')\nx = 3\nx": "본문 | Out[2]: 3 | picture of 4 lines",
    "%%watch\nprint('body')\nx;": "body | picture of 3 lines",
    "%%watch\nprint('body')\nx / 0": "body | ZeroDivisionError @3 | picture of 3 lines",
    "%%watch\nx = 9\n1 +": "SyntaxError @3",
    "%%watch --no\nx = 9": "UsageError: %%watch: unrecognized arguments: --no",
    "%%watch\nimport asyncio\nx += await asyncio.sleep(0, 4)\nx": "Out[7]: 7 | picture of 4 lines",
    "%%watch\nawait asyncio.sleep(0)\n1 / 0": "ZeroDivisionError @3 | picture of 3 lines",
    "%%time\n%%watch\nx = 4\nx;": "timed | picture of 3 lines",
    "%%watch\n%%capture\nprint('hidden')": "picture of 1 lines",
    f"%%watch\n{INTERRUPT}time.sleep(20)": "KeyboardInterrupt @3 | picture of 3 lines",
    f"%%watch\n{INTERRUPT}await asyncio.sleep(20)": "CancelledError @3 | picture of 3 lines",
    "x": "Out[13]: 4",
}


def run_notebook(*cells: str, allow_errors: bool = True) -> list[str]:
    """The outputs of cells that nbclient runs in a kernel of this environment, each cell's on one line."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in (SETUP, *cells)])
    client = nbclient.NotebookClient(notebook, kernel_name="python3", timeout=60, allow_errors=allow_errors)
    client.execute(env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])})
    return [" | ".join(in_words(output) for output in cell.outputs) for cell in notebook.cells[1:]]


def in_words(output) -> str:
    if output.output_type == "stream":
        # A kernel may send what was printed in two pieces.
        return re.sub("^CPU times.*|^Wall time.*", "timed", output.text.strip(), flags=re.DOTALL)
    if output.output_type == "error":
        return in_short(output.ename, output.evalue, output.traceback)
    number = f"Out[{output.execution_count}]: " if output.output_type == "execute_result" else ""
    return number + output.data["text/plain"]


def test_outputs_in_a_kernel_and_arguments_that_stop_a_notebook():
    assert run_notebook(*KERNEL) == list(KERNEL.values())
    errors = pytest.importorskip("nbclient.exceptions")
    with pytest.raises(errors.CellExecutionError, match="unrecognized arguments: --no"):
        run_notebook("%%watch --no\n1", allow_errors=False)
