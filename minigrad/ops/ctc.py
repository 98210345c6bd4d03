"""The loss of a sequence of labels whose places are not known (Graves and others, 2006).

Note [Paths]
    A path gives each step a label or the blank; it spells the target if that remains when repeated labels
    are drawn together and blanks left out. So it walks along the target with a blank before, between and
    after its labels, the *states*: at each step it stays, goes on to the next state, or passes over a blank
    between two different labels. `log_alpha[n, t, s]` is the logarithm of the probability of all ways that
    lead to state s at step t, and `log_beta` of those that lead on from it, both with that of step t itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import of
from ..op import F, differentiable
from .underivable import no_derivative

ABOUT = "(while checking arguments for ctc_loss_allocate_outputs)"


def check(log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int) -> None:
    """PyTorch's errors for dtypes, shapes and lengths that do not fit."""
    if not log_probs.size:
        raise RuntimeError("log_probs tensor must not be empty")
    if log_probs.dtype not in (np.float32, np.float64):
        raise NotImplementedError(f"\"ctc_loss_cpu\" not implemented for '{of(log_probs).title}'")
    if log_probs.ndim != 3:
        raise RuntimeError(
            f"Expected 3-dimensional tensor, but got {log_probs.ndim}-dimensional tensor for argument #1 "
            f"'log_probs' {ABOUT}"
        )
    steps, batch, labels = log_probs.shape
    if not 0 <= blank < labels:
        raise RuntimeError("blank must be in label range")
    for name, lengths in (("input_lengths", input_lengths), ("target_lengths", target_lengths)):
        if len(lengths) != batch:
            raise RuntimeError(f"{name} must be of size batch_size")
    check_lengths("input_lengths", input_lengths, steps)
    check_lengths("target_lengths", target_lengths, None)
    check_targets(targets, batch, target_lengths)


def check_lengths(name: str, lengths: Any, most: int | None) -> None:
    """RuntimeError for lengths below 0 or above `most`."""
    for length in lengths:
        if length < 0:
            raise RuntimeError(f"Expected {name} to have value at least 0, but got value {length} {ABOUT}")
        if most is not None and length > most:
            raise RuntimeError(
                f"Expected {name} to have value at most {most}, but got value {length} {ABOUT}"
            )


def check_targets(targets: Any, batch: int, lengths: Any) -> None:
    """RuntimeError unless there are targets for all lengths, in a row for each or in one."""
    if targets.ndim == 1:
        count, dim = sum(lengths), 0
    else:
        count, dim = batch, 0
        if targets.shape[0] == batch and targets.shape[1] < max(lengths, default=0):
            raise RuntimeError(
                f"Expected tensor to have size at least {max(lengths)} at dimension 1, but got size "
                f"{targets.shape[1]} for argument #2 'targets' {ABOUT}"
            )
    if targets.shape[dim] != count:
        raise RuntimeError(
            f"Expected tensor to have size {count} at dimension {dim}, but got size {targets.shape[dim]} "
            f"for argument #2 'targets' {ABOUT}"
        )


def states_of(targets: Any, lengths: Any, blank: int) -> tuple[Any, Any]:
    """The label of each state (N, S), and whether a path may come to it over a blank: see Note [Paths]."""
    states = np.full((len(lengths), 2 * max(lengths, default=0) + 1), blank)
    at = 0
    for n, length in enumerate(lengths):
        row = targets[at : at + length] if targets.ndim == 1 else targets[n, :length]
        states[n, 1 : 2 * length : 2] = row
        at += length
    skips = np.zeros(states.shape, bool)
    skips[:, 2:] = (states[:, 2:] != states[:, :-2]) & (states[:, 2:] != blank)
    return states, skips


def of_states(log_probs: Any, states: Any) -> Any:
    """The logarithm of the probability of each state's label at each step: (T, N, S)."""
    return log_probs[:, np.arange(len(states))[:, None], states]


def moved(row: Any, by: int) -> Any:
    """Numbers of states as numbers of those `by` places further on, -inf where there are none."""
    out = np.full_like(row, -np.inf)
    if by > 0:
        out[:, by:] = row[:, :-by]
    else:
        out[:, :by] = row[:, -by:]
    return out


def log_likelihoods(
    log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int, zero_infinity: bool
) -> tuple[Any, Any]:
    """The kernel of `_ctc_loss`."""
    check(log_probs, targets, input_lengths, target_lengths, blank)
    states, skips = states_of(targets, target_lengths, blank)
    own = of_states(log_probs, states)
    alpha = np.full(own.shape, -np.inf, log_probs.dtype)
    alpha[0, :, :2] = own[0, :, :2]
    for t in range(1, len(own)):
        ways = np.logaddexp(alpha[t - 1], moved(alpha[t - 1], 1))
        over = np.where(skips, moved(alpha[t - 1], 2), -np.inf)
        alpha[t] = np.logaddexp(ways, over) + own[t]
    last, end = np.array(input_lengths) - 1, 2 * np.array(target_lengths)
    rows = np.arange(len(end))
    before = np.where(end > 0, alpha[last, rows, end - 1], -np.inf)
    found = np.logaddexp(alpha[last, rows, end], before)
    found = np.where(last >= 0, found, np.where(end > 0, -np.inf, 0))  # nothing spells nothing
    return -found.astype(log_probs.dtype), np.moveaxis(alpha, 0, 1)


@differentiable(
    log_probs=lambda grads, log_probs, targets, input_lengths, target_lengths, result0, result1, blank,
    zero_infinity: F._ctc_loss_backward(
        grads[0], log_probs, targets, input_lengths, target_lengths, result0, result1, blank, zero_infinity
    ),
    several=("result0", "result1"),
    constants=("result1",),
    kernel=log_likelihoods,
    node="CtcLossBackward0",
)  # fmt: skip
def _ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, zero_infinity=False):
    """Minus the logarithm of the probability of all paths that spell the targets, (N,), and `log_alpha`, from
    log-probabilities (T, N, C): see Note [Paths].
    """


def log_betas(own: Any, skips: Any, input_lengths: Any, target_lengths: Any) -> Any:
    """`log_beta` (T, N, S): see Note [Paths]."""
    beta = np.full(own.shape, -np.inf, own.dtype)
    end = 2 * np.array(target_lengths)[:, None]
    place = np.arange(own.shape[2])
    final = (place == end) | (place == end - 1)
    last = np.array(input_lengths)[:, None] - 1
    onward = np.full(own.shape[1:], -np.inf, own.dtype)
    for t in range(len(own) - 1, -1, -1):
        over = moved(np.where(skips, onward, -np.inf), -2)
        ways = np.logaddexp(np.logaddexp(onward, moved(onward, -1)), over)
        begun = np.where(final & (t == last), 0, -np.inf)
        onward = beta[t] = np.where(t < last, ways, begun) + own[t]
    return beta


@differentiable(**no_derivative("_ctc_loss_backward", "grad", "log_probs", "neg_log_likelihood"))
def _ctc_loss_backward(
    grad, log_probs, targets, input_lengths, target_lengths, neg_log_likelihood, log_alpha, blank=0,
    zero_infinity=False,
):  # fmt: skip
    """The gradient of the scores whose log-softmax are the log-probabilities of `_ctc_loss`."""
    states, skips = states_of(targets, target_lengths, blank)
    beta = log_betas(of_states(log_probs, states), skips, input_lengths, target_lengths)
    both = np.moveaxis(log_alpha, 0, 1) + beta
    of_labels = np.full(log_probs.shape, -np.inf, log_probs.dtype)
    steps, rows = np.ogrid[: len(both), : both.shape[1]]
    np.logaddexp.at(of_labels, (steps[:, :, None], rows[:, :, None], states), both)
    loss = neg_log_likelihood[:, None]
    shares = np.exp(log_probs) - np.exp(of_labels + loss - log_probs)
    used = steps < np.array(input_lengths)
    if zero_infinity:
        used = used & (neg_log_likelihood != np.inf)
    return np.where(used[:, :, None], shares * grad[:, None], 0).astype(log_probs.dtype)
