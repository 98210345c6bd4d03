"""What `checkpoint(debug=True)` tells when a function did not save the same tensors again."""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Iterator
from typing import Any

from ..core import observers
from ..core.anomaly import is_ours
from ..core.tensor_state import TensorBase
from .recompute import CheckpointError

REPORT = """\
An error happened while unpacking tensors; dumping logs of latest computation
because you passed `debug=True` to `torch.utils.checkpoint.checkpoint()`.
Scroll all the way down for guidance on how to navigate these logs.

1. Stack traces of the operators that ran in the original forward

{original}
2. Stack traces of the operators that ran during recomputation

{recomputed}
3. Log of operators in the original forward and recomputation

Operations executed during the original forward:

{original_ops}

Operations executed during recomputation:

{recomputed_ops}

ERROR: Detected non-determinism while running activation checkpointing

You are seeing this error because you passed `debug=True` to checkpoint and the tensors
saved during the original forward differ from those saved during recomputation: compare
the two lists of operators (3) to see where they part, then look up where that operator
was called (1, 2).
"""


class Log(observers.Observer):
    """An observer that writes down every op, and where it was called."""

    def __init__(self) -> None:
        self.ops: list[str] = []
        self.traces: list[list[str]] = []

    def forward(self, op: Any, inputs: Any, outputs: Any) -> None:
        """Note an op that ran."""
        known = hasattr(op, "written") and not op.listed
        self.note(getattr(op, "name", None) or op.__name__, op.written(inputs) if known else inputs, outputs)

    def mutated(self, op: Any, values: Any, version: int, history: Any) -> None:
        """Note an op that ran in place."""
        self.note(op.name + "_", values, values[0])

    def note(self, name: str, inputs: Any, outputs: Any) -> None:
        """Write down a line such as `f32[2] = mul(f32[2], 3)`, and the user's calls that led there."""
        results = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
        self.ops.append(f"{', '.join(map(describe, results))} = {name}({', '.join(map(describe, inputs))})")
        stack = [frame for frame, _ in traceback.walk_stack(None) if not is_ours(frame)]
        self.traces.append([f"{f.f_code.co_filename}:{f.f_lineno}:{f.f_code.co_name}" for f in stack])

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Write ops down inside."""
        self.ops.clear()
        self.traces.clear()
        observers.add_observer(self)
        try:
            yield
        finally:
            observers.remove_observer(self)

    def report(self, label: str) -> str:
        """Return every op with the place where it was called."""
        n = len(self.ops)
        return "\n".join(
            f"{op}   ({i} of {n} in {label})\n\n" + "".join(f"{line}\n" for line in trace)
            for i, (op, trace) in enumerate(zip(self.ops, self.traces, strict=True), 1)
        )


class Logs:
    """The ops of the first run and of the latest one after it."""

    def __init__(self) -> None:
        self.original, self.again = Log(), Log()

    def contexts(self) -> tuple[Any, Any]:
        """Return a `context_fn` that writes both down."""
        return self.original.listening(), Reusable(self.again)

    def explain(self, error: CheckpointError) -> CheckpointError:
        """Return the error with both logs."""
        return CheckpointError(
            REPORT.format(
                original=self.original.report("original"),
                recomputed=self.again.report("recompute"),
                original_ops="\n".join(self.original.ops),
                recomputed_ops="\n".join(self.again.ops),
            )
        )


class Reusable:
    """A log that can be entered for every later run."""

    def __init__(self, log: Log) -> None:
        self.log = log

    def __enter__(self) -> None:
        self.context = self.log.listening()
        self.context.__enter__()

    def __exit__(self, *exc: Any) -> None:
        self.context.__exit__(*exc)


def describe(value: Any) -> str:
    """Return the dtype and shape of a tensor; the repr of anything else."""
    if isinstance(value, TensorBase):
        dtype = value._data.dtype
        return f"{dtype.kind}{dtype.itemsize * 8}{list(value._data.shape)}"
    return repr(value)
