"""Events of minigrad, which has observers for it."""

from __future__ import annotations

from typing import Any

from minigrad import modes


class Minigrad:
    """An observer that passes on what it is told, in the recorder's terms."""

    def attach(self, recorder: Any) -> None:
        """Begin to tell `recorder` what happens on this thread."""
        self.recorder = recorder
        self.created = recorder.created
        self.detached = recorder.detached
        self.backward_ended = recorder.backward_ended
        modes.add_observer(self)

    def detach(self) -> None:
        """Stop."""
        modes.remove_observer(self)

    def forward(self, op: Any, inputs: list[Any], outputs: Any) -> None:
        """An op or a custom Function ran."""
        title = getattr(op, "name", None) or op.__name__
        results = list(outputs) if isinstance(outputs, tuple | list) else [outputs]
        if title == "copy" and self.recorder.call:
            inputs = inputs[1:]  # the destination is new memory, nobody's tensor
        self.recorder.forward(title, inputs, results, modes.is_grad_enabled())

    def mutated(self, op: Any, values: list[Any]) -> None:
        """An op wrote into its first argument."""
        self.recorder.mutated(op.name, values)

    def backward_started(self, roots: Any, gradients: Any, options: Any) -> None:
        """A backward call starts."""
        wanted = options.inputs if options.call == "grad" else None
        self.recorder.backward_started(options.call, roots, gradients, options.create_graph, wanted)
