"""`python -m minigrad_viz kernel`: installed, started, replaced, taken away; and what is refused."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from minigrad_viz.__main__ import main
from minigrad_viz.shell import kernel

ROOT = Path(__file__).resolve().parents[2]
CELL = "import minigrad as torch\nx = torch.tensor(3.0, requires_grad=True)\ny = x * x\ny.backward()\n"


@pytest.fixture(autouse=True)
def english(monkeypatch):
    monkeypatch.setenv("MINIGRAD_LANG", "en")


@pytest.fixture
def command(tmp_path, capsys):
    """Runs the command in the environment at tmp_path; status, stdout and stderr."""

    def run(*arguments: str) -> tuple[int, str, str]:
        status = main(["kernel", *arguments, "--prefix", str(tmp_path)])
        return (status, *capsys.readouterr())

    return run


def spec(prefix: Path, name: str = kernel.NAME) -> dict:
    path = prefix / "share" / "jupyter" / "kernels" / name / "kernel.json"
    return json.loads(path.read_text(encoding="utf-8"))


def test_install_and_uninstall(tmp_path, command):
    folder = tmp_path / "share" / "jupyter" / "kernels" / kernel.NAME
    assert command("install") == (0, f"The kernel python3-autograd is in {folder}\n", "")
    made = spec(tmp_path)
    assert made["display_name"] == "Python 3 (autograd)" and made["language"] == "python"
    assert made["argv"][0] == sys.executable and made["argv"][-2:] == kernel.ARGUMENTS
    assert {path.name for path in folder.iterdir()} >= {"kernel.json", "logo-64x64.png"}
    assert [path.name for path in (tmp_path / "share" / "jupyter").iterdir()] == ["kernels"], "no leftovers"
    assert command("uninstall") == (0, f"The kernel python3-autograd was removed from {folder}\n", "")
    assert not folder.exists() and folder.parent.exists()
    status, out, error = command("uninstall")
    assert (status, out) == (1, "") and error.startswith("There is no kernel 'python3-autograd' in ")


def test_names_and_a_second_installation(tmp_path, command):
    assert command("install", "--name", "mine", "--display-name", "내 커널")[0] == 0
    assert spec(tmp_path, "mine")["display_name"] == "내 커널"
    assert command("install", "--name", "mine", "--display-name", "Mine")[0] == 0
    assert spec(tmp_path, "mine")["display_name"] == "Mine"
    assert command("uninstall", "--name", "mine")[0] == 0


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../x", "a/b", "a\\b", "Mine", "my kernel", "a:b", "가", "x."]
)
def test_odd_names_are_refused(tmp_path, command, name):
    for order in ("install", "uninstall"):
        status, out, error = command(order, "--name", name)
        assert (status, out) == (1, "") and error.startswith(f"{name!r} cannot be the name of a kernel")
    assert list(tmp_path.iterdir()) == []


def test_another_kernel_is_left_alone(tmp_path, command):
    folder = tmp_path / "share" / "jupyter" / "kernels" / "python3"
    folder.mkdir(parents=True)
    (folder / "kernel.json").write_text('{"argv": ["python"], "display_name": "Python 3"}')
    for order in ("install", "uninstall"):
        status, _, error = command(order, "--name", "python3")
        assert status == 1 and error == f"{folder} belongs to another kernel; choose another --name\n"
    assert spec(tmp_path, "python3")["argv"] == ["python"]


def test_all_or_nothing(tmp_path, command, monkeypatch):
    assert command("install", "--display-name", "first")[0] == 0
    rename = os.rename

    def full(source, target):
        if Path(source).name == "new":
            raise OSError(28, "No space left on device", str(target))
        rename(source, target)

    monkeypatch.setattr(os, "rename", full)
    status, _, error = command("install", "--display-name", "second")
    assert status == 1 and "No space left on device" in error
    assert spec(tmp_path)["display_name"] == "first"
    assert [path.name for path in (tmp_path / "share" / "jupyter").iterdir()] == ["kernels"]


def test_a_place_that_is_no_folder(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["kernel", "install", "--prefix", str(tmp_path / "file")]) == 1
    assert "file" in capsys.readouterr().err


def test_without_ipykernel(command, monkeypatch):
    monkeypatch.setitem(sys.modules, "ipykernel.kernelspec", None)
    status, _, error = command("install")
    assert status == 1 and error.startswith("This needs ipykernel, which is not installed: pip install ipy")


def test_where_it_goes(tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    assert kernel.folder_of("mine", user=True) == tmp_path / "kernels" / "mine"
    assert kernel.folder_of("mine") == Path(sys.prefix, "share", "jupyter", "kernels", "mine")


@pytest.mark.parametrize("arguments", [[], ["remove"], ["install", "--user", "--sys-prefix"]])
def test_wrong_usage(arguments, capsys):
    with pytest.raises(SystemExit) as left:
        main(["kernel", *arguments])
    assert left.value.code == 2 and "python -m minigrad_viz kernel" in capsys.readouterr().err


def test_a_plain_cell_is_shown_in_it(tmp_path, command, monkeypatch):
    manager = pytest.importorskip("jupyter_client.manager")
    assert command("install")[0] == 0
    for variable in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR"):
        monkeypatch.setenv(variable, str(tmp_path / variable))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "share" / "jupyter"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    running, client = manager.start_new_kernel(kernel_name=kernel.NAME, startup_timeout=60)
    messages: list[dict] = []
    try:
        client.execute_interactive(CELL, output_hook=messages.append, timeout=60)
        client.execute_interactive("print(1)", output_hook=messages.append, timeout=60)
    finally:
        client.stop_channels()
        running.shutdown_kernel(now=True)
        running.cleanup_resources()
        running.context.destroy(linger=0)
    shown = [m["content"] for m in messages if m["msg_type"] == "display_data"]
    assert len(shown) == 1, "the cell without tensors shows nothing"
    assert shown[0]["data"]["text/plain"].startswith("y = x * x   9.   root")
    assert "data:image/svg+xml" in shown[0]["data"]["text/html"]
    assert [m["content"]["text"] for m in messages if m["msg_type"] == "stream"] == ["1\n"]
