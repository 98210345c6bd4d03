"""A softmax over many classes that takes the frequent ones first (Grave and others, 2017)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from ...op import F
from .. import functional
from ..containers import ModuleList, Sequential
from ..module import Module
from .linear import Linear


class ASMoutput(NamedTuple):
    """The log-probability of the target of each sample, and the loss: minus their mean."""

    output: Any
    loss: Any


ASMoutput.__name__ = "_ASMoutput"


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log-probabilities of `n_classes` classes, the most frequent first, from vectors of size `in_features`.

    The classes below the first of `cutoffs` stand in the head, those between two cutoffs in a cluster each,
    which the head has one number for. Clusters see vectors that are smaller, by `div_value` each time.
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        whole = all(int(c) == c for c in cutoffs)
        if not whole or sorted({0, *cutoffs, n_classes}) != [0, *cutoffs, n_classes]:
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, "
                "where each value is between 1 and n_classes-1"
            )
        self.in_features, self.n_classes, self.cutoffs = in_features, n_classes, [*cutoffs, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size, self.n_clusters = cutoffs[0], len(cutoffs)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, dtype=dtype)
        self.tail = ModuleList()
        for i, (start, end) in enumerate(pairwise(self.cutoffs), 1):
            size = int(in_features // div_value**i)
            first = Linear(in_features, size, bias=False, dtype=dtype)
            self.tail.append(Sequential(first, Linear(size, end - start, bias=False, dtype=dtype)))

    def reset_parameters(self) -> None:
        """Draw all weights anew."""
        for module in self.modules():
            if isinstance(module, Linear):
                module.reset_parameters()

    def forward(self, input_: Any, target_: Any) -> ASMoutput:
        """The log-probabilities of the targets (N,), or of one, from (N, in_features) or (in_features,)."""
        self._check(input_, target_)
        batched = target_.ndim > 0
        input, target = (input_, target_) if batched else (input_.unsqueeze(0), target_.unsqueeze(0))
        output = F.zeros_of(input, (len(target),))
        in_head = F.zeros_like(target)  # the number of each target, or of its cluster, in the head
        used = 0
        for i, (start, end) in enumerate(pairwise([0, *self.cutoffs])):
            mask = (target >= start) & (target < end)
            rows = mask.nonzero().squeeze()
            used += rows.numel()
            if not rows.numel():
                continue
            if i == 0:
                in_head.index_copy_(0, rows, target[mask])
                continue
            inside = self.tail[i - 1](input.index_select(0, rows))
            in_head.index_fill_(0, rows, self.shortlist_size + i - 1)
            found = functional.log_softmax(inside, dim=1).gather(1, (target[mask] - start).unsqueeze(1))
            output.index_copy_(0, rows, found.squeeze(1))
        if used != len(target):
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{target.min().item()}, {target.max().item()}] were found. "
            )
        head = functional.log_softmax(self.head(input), dim=1)
        output += head.gather(1, in_head.unsqueeze(1)).squeeze()
        loss = (-output).mean()
        return ASMoutput(output if batched else output.squeeze(0), loss)

    def _check(self, input: Any, target: Any) -> None:
        """RuntimeError with PyTorch's text for shapes that do not fit."""
        if target.ndim > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if target.ndim == 1 and len(input) != len(target):
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        if input.ndim != target.ndim + 1:
            raise RuntimeError(
                f"{target.ndim}D target tensor expects {target.ndim + 1}D input tensors, but found inputs "
                f"with size {input.shape}"
            )

    def _all(self, input: Any, head_output: Any) -> Any:
        """The log-probabilities of all classes, given what the head gives."""
        head = functional.log_softmax(head_output, dim=1)
        out = F.zeros_of(input, (len(head), self.n_classes))
        out[:, : self.shortlist_size] = head[:, : self.shortlist_size]
        for i, (start, end) in enumerate(pairwise(self.cutoffs)):
            inside = functional.log_softmax(self.tail[i](input), dim=1)
            out[:, start:end] = inside + head[:, self.shortlist_size + i].unsqueeze(1)
        return out

    def log_prob(self, input: Any) -> Any:
        """The log-probabilities of all classes, (N, n_classes) from (N, in_features)."""
        return self._all(input, self.head(input))

    def predict(self, input: Any) -> Any:
        """The most probable class of each sample; the clusters are asked only where the head names one."""
        head = self.head(input)
        output = head.argmax(dim=1)
        elsewhere = output >= self.shortlist_size
        if elsewhere.any():
            output[elsewhere] = self._all(input[elsewhere], head[elsewhere]).argmax(dim=1)
        return output
