"""`python real_runs.py LIBRARY NAME...`: run these programs of `real/` plainly and under `%%autograd`, and
print what happened as JSON. `torch` is minigrad or PyTorch, so each library has a process of its own.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

PROGRAMS = sorted((Path(__file__).parents[1] / "real").glob("*.py"))


def state(value: Any) -> str:
    """What a variable holds, without addresses: the values of tensors, the parameters of modules."""
    if hasattr(value, "grad_fn"):
        grad = value.grad if value.is_leaf else None
        kind = (value.dtype, value.requires_grad, grad if grad is None else grad.tolist())
        return f"{value.detach().tolist()} {kind}"
    if hasattr(value, "state_dict") and not isinstance(value, type):
        return state(value.state_dict())
    if isinstance(value, dict):
        return str({key: state(each) for key, each in value.items()})
    if isinstance(value, (list, tuple)):
        return str([state(each) for each in value])
    return repr(value) if isinstance(value, (int, float, str, type(None))) else type(value).__qualname__


def ran(shell: Any, torch: Any, cell: str) -> dict[str, Any]:
    """Run one cell in a shell without variables."""
    shell.clear()
    done = shell.run(cell, {}, torch)
    return {
        "printed": done.printed,
        "complained": done.complained,
        "failed": done.failed,
        "variables": {name: state(value) for name, value in done.variables},
        "outline": "\n".join(shown.get("data", shown).get("text/plain", "") for shown in done.displayed),
    }


def main(library: str, *names: str) -> None:
    import minigrad

    if library == "minigrad":
        minigrad.install_as_torch()
    import torch

    torch.set_num_threads(1)
    from real_checks import checked
    from real_truth import LineByLine, untrue, values_in_steps
    from shells import Shell

    from minigrad_viz.shell.explain import last

    found = {}
    with tempfile.TemporaryDirectory() as folder, Shell(Path(folder)) as shell:
        for path in (path for path in PROGRAMS if path.stem in names):
            source = path.read_text(encoding="utf-8")
            plain = ran(shell, torch, source)
            watched = ran(shell, torch, f"%%autograd --no-table\n{source}")
            check = checked(last(), dict(shell.shell.user_ns))
            check["untrue"] = untrue(last(), LineByLine(source, torch).held)
            check["changes"] = sum(len(pairs) for act in values_in_steps(last()) for pairs in act.values())
            notes = [f"{each.key}: {each.why}" for each in last().explained]
            found[path.stem] = {"plain": plain, "watched": watched, "checked": {**check, "notes": notes}}
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
