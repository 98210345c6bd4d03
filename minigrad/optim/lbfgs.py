"""L-BFGS (Liu and Nocedal, 1989)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..autograd import enable_grad, no_grad
from ..core import F
from ..left_out import refuse
from ..ops.joining import cat
from .optimizer import Optimizer, settings


class LBFGS(Optimizer):
    """Quasi-Newton method that estimates the curvature from the last steps.

    The direction is −H g, where H approximates the inverse Hessian from the last `history_size` differences
    of parameters and gradients. `step` needs a closure that computes the loss and its gradients again.

    Args:
        params: parameters; there can be one group only.
        lr: size of a step along the direction.
        max_iter: largest number of iterations of one `step`.
        max_eval: largest number of calls of the closure in one `step`; max_iter · 5/4 if None.
        tolerance_grad: stop when no element of the gradient is larger.
        tolerance_change: stop when neither parameters nor loss change by more.
        history_size: number of differences to keep.
        line_search_fn: must be None.

    Raises:
        ValueError: there is more than one group.
        TypeError: `step` is called without a closure.
        NotImplementedError: line_search_fn is given.

    Example:
        >>> p = nn.Parameter(torch.tensor([3.0]))
        >>> optimizer = optim.LBFGS([p], lr=0.5)
        >>> def closure():
        ...     optimizer.zero_grad()
        ...     loss = (p * p).sum()
        ...     loss.backward()
        ...     return loss
        >>> optimizer.step(closure).item(), abs(p.item()) < 1e-4
        (9.0, True)

    Source: PyTorch's page `torch.optim.LBFGS`; Liu and Nocedal, 1989.
    """

    def __init__(
        self, params: Any, lr: float = 1, max_iter: int = 20, max_eval: int | None = None,
        tolerance_grad: float = 1e-7, tolerance_change: float = 1e-9, history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:  # fmt: skip
        refuse("LBFGS", line_search_fn=line_search_fn is not None)
        max_eval = max_iter * 5 // 4 if max_eval is None else max_eval
        names = "lr max_iter max_eval tolerance_grad tolerance_change history_size line_search_fn"
        super().__init__(params, settings(locals(), names))
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    def _gradient(self) -> Any:
        """Return all gradients as one vector."""
        parts = [F.zeros_of(p, (p.numel(),)) if p.grad is None else p.grad.view(-1) for p in self._params]
        return cat(parts, 0)

    def _go(self, size: float, direction: Any) -> None:
        """Add `size` times `direction` to the parameters."""
        at = 0
        for param in self._params:
            param.add_(direction[at : at + param.numel()].view_as(param), alpha=size)
            at += param.numel()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Minimize the loss; `closure` computes it and its gradients again. Return the first loss."""
        if closure is None:
            raise TypeError("LBFGS.step() missing 1 required positional argument: 'closure'")
        if len(self.param_groups) != 1:
            raise AssertionError(f"Expected exactly one param_group, but got {len(self.param_groups)}")
        with no_grad():
            return self._descend(closure)

    def _descend(self, closure: Callable[[], Any]) -> Any:
        """Take steps until the gradient, the last step or the last gain is small enough."""
        group = self.param_groups[0]
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first = self._evaluated(closure)
        loss, gradient, evaluations = float(first), self._gradient(), 1
        state["func_evals"] += 1
        if max_abs(gradient) <= group["tolerance_grad"]:
            return first
        for i in range(group["max_iter"]):
            state["n_iter"] += 1
            self._turn(state, gradient, group["history_size"])
            before, direction = loss, state["d"]
            state["prev_loss"] = loss
            is_first = state["n_iter"] == 1
            state["t"] = min(1.0, 1.0 / gradient.abs().sum()) * group["lr"] if is_first else group["lr"]
            if gradient.dot(direction).item() > -group["tolerance_change"]:
                break
            self._go(float(state["t"]), direction)
            if i + 1 < group["max_iter"]:
                loss, gradient = float(self._evaluated(closure)), self._gradient()
                evaluations += 1
                state["func_evals"] += 1
            if (
                evaluations >= group["max_eval"]
                or max_abs(gradient) <= group["tolerance_grad"]
                or max_abs(direction * state["t"]) <= group["tolerance_change"]
                or abs(loss - before) < group["tolerance_change"]
            ):
                break
        return first

    def _evaluated(self, closure: Callable[[], Any]) -> Any:
        with enable_grad():
            return closure()

    def _turn(self, state: dict[str, Any], gradient: Any, history_size: int) -> None:
        """Compute the next direction from the gradient and the previous steps."""
        if state["n_iter"] == 1:
            state |= {"d": gradient.neg(), "old_dirs": [], "old_stps": [], "ro": [], "H_diag": 1}
        else:
            store_step(state, gradient, history_size)
            state.setdefault("al", [None] * history_size)
            state["d"] = newton_direction(state, gradient)
        state["prev_flat_grad"] = gradient.clone()


def max_abs(x: Any) -> float:
    """Return the maximum absolute value."""
    value: float = x.abs().max().item()
    return value


def store_step(state: dict[str, Any], gradient: Any, history_size: int) -> None:
    """Store the last step and the change of the gradient, if the slope grew; drop the oldest."""
    change, step = gradient - state["prev_flat_grad"], state["d"] * state["t"]
    growth = change.dot(step)
    if growth <= 1e-10:
        return
    notes = ("old_dirs", change), ("old_stps", step), ("ro", 1.0 / growth)
    for name, value in notes:
        if len(state[name]) == history_size:
            state[name].pop(0)
        state[name].append(value)
    state["H_diag"] = growth / change.dot(change)


def newton_direction(state: dict[str, Any], gradient: Any) -> Any:
    """Return −H g, where H is the inverse Hessian that the stored steps give (two-loop recursion)."""
    notes = list(zip(state["old_dirs"], state["old_stps"], state["ro"]))
    direction, shares = gradient.neg(), state["al"]
    for i, (change, step, inverse) in reversed([*enumerate(notes)]):
        shares[i] = step.dot(direction) * inverse
        direction = direction - change * shares[i]
    direction = direction * state["H_diag"]
    for (change, step, inverse), share in zip(notes, shares):
        direction = direction + step * (share - change.dot(direction) * inverse)
    return direction
