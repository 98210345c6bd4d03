"""What a learner sees of an error: lines of their own code, then the error, and nothing of the libraries."""

from __future__ import annotations

import re
import sys
import threading
import traceback
from pathlib import Path

import pytest
from cells import CUBE, MY_POW
from golden import cells_of
from IPython.utils.io import capture_output
from IPython.utils.path import compress_user
from shells import COLOUR, Shell
from telling import calm
from test_documents import PROGRAMS, documented, read
from twins import dialect

import minigrad
import minigrad_viz

ROOT = Path(minigrad_viz.__file__).parent.parent
FOLDERS = [str(Path(package.__file__).parent) for package in (minigrad, minigrad_viz)]
ERRORS = [name.stem for name in sorted(PROGRAMS.glob("*.py")) if "\n# ! " in name.read_text(encoding="utf-8")]
MODES = ("Context", "Plain", "Verbose", "Minimal")
FAILING = {
    cell.title: cell
    for cell in (*cells_of("errors"), *cells_of("teaching"))
    if "\nerror: " in cell.parts[0].text
}


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    with Shell(tmp_path_factory.mktemp("ipython")) as shell:
        yield shell


@pytest.fixture(params=["the clone", "the clone's parent", "another folder"])
def home(request, monkeypatch, tmp_path):
    """The user's home directory: IPython writes the paths below it with a `~`."""
    folder = {"the clone": ROOT, "the clone's parent": ROOT.parent}.get(request.param, tmp_path)
    for variable in ("HOME", "USERPROFILE"):  # the second one is read on Windows
        monkeypatch.setenv(variable, str(folder))


@pytest.fixture(params=MODES)
def mode(shell, request):
    shell.shell.InteractiveTB.set_mode(request.param)
    yield request.param
    shell.shell.InteractiveTB.set_mode("Context")


def run(shell: Shell, cell: str) -> str:
    """What a cell prints, its error among it, without colors."""
    shell.clear()
    shell.shell.push({"torch": minigrad}, interactive=False)
    with calm(minigrad), capture_output(display=False) as output:
        shell.shell.run_cell(cell, store_history=True)
    return COLOUR.sub("", output.stdout + output.stderr)


def ours(told: str) -> bool:
    """Whether a traceback names a file of ours, as Python or as IPython writes its path."""
    folders = {written for folder in FOLDERS for written in (folder, compress_user(folder))}
    return any(re.search(rf'File "?{re.escape(folder)}', told) for folder in folders)


def only_users(told: str) -> None:
    """No file is named, ours or another's, nor how many frames there were."""
    assert not ours(told) and not re.search(r'File "?[~/]', told) and "skipping hidden" not in told, told


def test_there_are_errors():
    assert ERRORS == ["code_06", "code_12", "code_14", "code_17", "code_21"] and len(FAILING) > 15


@pytest.mark.quick(1)
@pytest.mark.parametrize("example", ERRORS)
def test_documented_errors(shell, mode, example, monkeypatch):
    monkeypatch.syspath_prepend(PROGRAMS)
    with dialect("1.4"):  # whose errors the documents print
        told = run(shell, read(example))
    only_users(told)
    assert (
        next(line for line in reversed(documented(read(example))) if "Error: " in line).split(",")[0] in told
    )
    if mode != "Minimal":
        line = r"line \d+\n +" if mode == "Plain" else r"-> \d+ "
        assert re.search(line + r".*(backward|grad|gradcheck)\(", told), told


@pytest.mark.sample(6)
@pytest.mark.parametrize("watched", ["%%autograd\n", "#\n"])
@pytest.mark.parametrize("key", FAILING)
def test_what_learners_meet(shell, key, watched):
    told = run(shell, watched + FAILING[key].source)
    only_users(told.partition("The graph up to")[0])
    line = re.search(r", line (\d+)", FAILING[key].parts[0].text)[1]
    assert f"---> {int(line) + 1} " in told, told


CALLED = {  # the user's functions that autograd calls, the line where each fails, and how the frame is called
    "backward": (MY_POW.replace("return g * exponent", "return g / [] * exponent"), "y = MyPow.apply(x, x)\n"
                 "y.backward()\n", "g / []", "MyPow.backward"),
    "forward": (MY_POW.replace("return base ** exponent", "return base / [] ** exponent"),
                "MyPow.apply(x, x)\n", "base / []", "MyPow.forward"),
    "hook": ("def hook(g):\n    return g.nothing\n", "y = x * 2\ny.register_hook(hook)\ny.backward()\n",
             "g.nothing", "hook"),
    "gradcheck": ("def f(x):\n    return x.nothing\n", "torch.autograd.gradcheck(f, (x,))\n",
                  "x.nothing", "f"),
    "partial": ("import functools\ndef f(x, n):\n    return x.nothing\n",
                "torch.autograd.functional.jacobian(functools.partial(f, n=1), x)\n", "x.nothing", "f"),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLED)
def test_what_autograd_calls_is_the_users(shell, name):
    functions, calls, failing, frame = CALLED[name]
    told = run(shell, f"{functions}x = torch.tensor(3.0, dtype=torch.float64, requires_grad=True)\n{calls}")
    only_users(told)
    arrows = re.findall(r"-+> \d+ (.*)", told)
    assert len(arrows) == 2 and failing in arrows[1] and f"in {frame}(" in told, told


def test_what_numpy_was_called_for(shell):
    told = run(shell, "torch.tensor([1.0, 2.0]) @ torch.tensor([1.0, 2.0, 3.0])\n")
    only_users(told)
    assert len(re.findall(r"-+> \d+ ", told)) == 1


def test_what_a_user_calls_in_another_library_stays(shell):
    told = run(shell, "import json\njson.loads('{')\n")
    assert "json" in told and "decoder.py" in told


def test_chained_errors(shell):
    caught = "try:\n    z.backward()\nexcept RuntimeError as error:\n    raise ValueError(1) from error\n"
    told = run(shell, f"{CUBE}z.backward()\n{caught}")
    only_users(told)
    assert (
        "RuntimeError: Trying to" in told
        and "direct cause" in told
        and told.rstrip().endswith("ValueError: 1")
    )
    assert len(re.findall(r"-+> \d+ ", told)) == 2


OF_PYTORCH = {
    "module": "net(torch.ones(2))",
    "backward": "y.backward()",
    "grad": "torch.autograd.grad(torch.ones(1), x)",
    "op": "torch.ones(2).reshape(3)",
    "hook": "h = x * 2\nh.register_hook(lambda g: g.nothing)\nh.backward()",
    "function": "F.apply(x).backward()",
    "closure": "def closure():\n    raise KeyError(1)\ntorch.optim.SGD([x], lr=0.1).step(closure)",
    "thread": "t = threading.Thread(target=lambda: net(torch.ones(2)), name='T')\nt.start()\nt.join()",
    "backward in a thread": "t = threading.Thread(target=y.backward, name='T')\nt.start()\nt.join()",
    "cause": "try:\n    y.backward()\nexcept RuntimeError as e:\n    raise ValueError('a') from e",
    "context": "try:\n    y.backward()\nexcept RuntimeError:\n    net(torch.ones(2))",
    "group": "found = []\nfor f in (y.backward, lambda: net(torch.ones(2))):\n    try:\n        f()\n"
    "    except RuntimeError as e:\n        found.append(e)\nraise ExceptionGroup('two', found)",
    "printed": "try:\n    net(torch.ones(2))\nexcept RuntimeError:\n    traceback.print_exc()",
    "in words": "try:\n    y.backward()\nexcept RuntimeError:\n    print(traceback.format_exc())",
}
BEFORE = """
import threading, traceback
net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Linear(2, 2))
x = torch.tensor(2.0, requires_grad=True)
y = x * x
y.backward()
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1
    @staticmethod
    def backward(ctx, g):
        return g / []
"""


@pytest.mark.parametrize("key", OF_PYTORCH)
def test_a_watched_cell_fails_in_the_same_lines_of_pytorch(shell, torch, key, monkeypatch):
    """Whoever shows the traceback: IPython, Python, a thread."""
    monkeypatch.setattr(threading, "excepthook", threading.__excepthook__)  # not pytest's

    def told(head: str) -> list[str]:
        shell.clear()
        shell.shell.push({"torch": torch}, interactive=False)
        shell.shell.run_cell(BEFORE)
        with calm(torch), capture_output(display=False) as output:
            shell.shell.run_cell(f"{head}\n{OF_PYTORCH[key]}", store_history=True)
        texts = (COLOUR.sub("", text) for text in (output.stdout, output.stderr))
        return [re.sub(r"<ipython-input-\S+|#?%%autograd|# plain", "", text).strip() for text in texts]

    plain, watched = told("# plain"), told("%%autograd")
    assert "Error" in "".join(plain) and plain[1] == watched[1]
    assert watched[0].startswith(plain[0])  # the outline comes after it


@pytest.mark.sample(1)
@pytest.mark.usefixtures("home")
def test_all_of_it_can_be_seen(shell):
    """Where it is asked for, by the debugger, and by Python."""
    run(shell, f"{CUBE}z.backward()\nz.backward()\n")
    whole = "".join(traceback.format_exception(sys.last_value))
    assert ours(whole)
    assert shell.shell.InteractiveTB.tb is sys.last_value.__traceback__
    with capture_output(display=False) as output:
        shell.shell.run_cell("%xmode --show\n%tb")
    try:
        assert ours(COLOUR.sub("", output.stdout))
    finally:
        with capture_output(display=False) as output:
            shell.shell.run_cell("%xmode --hide\n%tb")
    only_users(COLOUR.sub("", output.stdout))


@pytest.mark.usefixtures("home")
def test_unloading_takes_it_back(tmp_path):
    with Shell(tmp_path) as shell:
        shell.shell.run_cell("%load_ext minigrad_viz")
        run(shell, "%unload_ext minigrad_viz")
        told = run(shell, f"{CUBE}z.backward()\nz.backward()\n")
        assert ours(told)
        run(shell, "%load_ext minigrad_viz")
        only_users(run(shell, f"{CUBE}z.backward()\nz.backward()\n"))
