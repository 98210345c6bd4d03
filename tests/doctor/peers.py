"""The zoo through other tools of its kind: `python tests/doctor/peers.py` prints the comparison of
docs/doctor.md. It needs the packages torch-audit, torchmortem and trainproof, which no test asks for.

Each tool is used as its own examples show: torch-audit patches model and optimizer and audits every step,
torchmortem is told each loss, trainproof reads a log of loss, gradient norm and learning rate. What they say
fits if it names what the fault does to the run; none of them names a line.
"""

from __future__ import annotations

import contextlib
import io
import logging
import math
import warnings
from typing import Any

import torch
from torch.nn.modules.module import register_module_forward_pre_hook
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from doctor import faults, healthy
from doctor.faults import Program

CUT = "detach data list numpy no_grad"
STILL = "reset_before_step step_before_backward model_made_again never_steps only_the_head"
NAN = "nan_in_data log_of_zero root_of_zero large_inputs rate_large exploding ascent no_log_softmax"
FITS = {  # which kinds the beginning of a finding fits
    "TA100": NAN,
    "TA102": "rate_large exploding ascent large_inputs",
    "TA103": "dead relu_at_the_end zeros saturated vanishing",
    "TA104": f"{CUT} {STILL} item argmax all_frozen generator_cut generator_of_the_other",
    "TA105": "dead relu_at_the_end zeros",
    "TA301": "large_inputs",
    "TA305": "nan_in_data",
    "TA500": f"{CUT} layers_in_a_list layer_never_called",
    "dead_units": "dead relu_at_the_end zeros",
    "saturation": "saturated",
    "gradient_flow: Vanishing": f"vanishing {CUT} generator_cut zeros dead saturated",
    "gradient_flow: Gradient stalling": f"{CUT} generator_cut zeros dead saturated vanishing",
    "gradient_flow: Exploding": "exploding rate_large ascent large_inputs",
    "update_ratio: Update ratio too high": "rate_large exploding decay_large",
    "update_ratio: Update ratio too low": "rate_small rate_decays rate_zero clip_tiny",
    "weight_norm: Stagnant": f"{STILL} {CUT} rate_zero rate_small rate_decays clip_tiny generator_rate_zero",
    "loss_dynamics": "rate_large exploding ascent",
    "TP-NAN": NAN,
    "TP-DIVERGE": "rate_large exploding ascent large_inputs no_log_softmax",
    "TP-GRAD-SPIKE": "rate_large exploding ascent large_inputs",
    "TP-ZERO-GRAD": f"{STILL} {CUT} item zeros dead generator_cut",
    "TP-ZERO-LR": "rate_zero rate_decays generator_rate_zero",
    "TP-DEAD-RUN": f"{STILL} {CUT} item rate_zero rate_small clip_tiny zeros dead",
    "TP-FLAT": f"{STILL} rate_zero rate_small clip_tiny zeros dead",
}
STYLE = ("TA2", "TA4")  # advice on hardware and style


class Watched:
    """A run of a program with one of the tools; `findings` are what it warned about."""

    def __init__(self, tool: str) -> None:
        self.tool, self.peer = tool, None
        self.optimizers: list[Any] = []
        self.records: list[dict[str, float]] = []
        self.loss = self.norm = math.nan

    def begin(self, module: Any, args: Any) -> None:
        """Before the first call of a model."""
        if self.peer is not None or not self.optimizers or not any(True for _ in module.parameters()):
            return
        if self.tool == "torch-audit":
            from torch_audit import Auditor

            self.peer = Auditor(module, optimizer=self.optimizers[0], every_n_steps=1)
            self.peer.autopatch()
        elif self.tool == "torchmortem":
            from torchmortem import Autopsy

            self.peer = Autopsy(module, optimizer=self.optimizers[0])
            self.peer.attach()

    def before_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        every = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        dense = [grad.to_dense() if grad.is_sparse else grad for grad in every]
        self.norm = math.sqrt(sum(float(grad.float().norm()) ** 2 for grad in dense))

    def after_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if optimizer is not self.optimizers[0] or (math.isnan(self.norm) and not self.records):
            return
        rate = optimizer.param_groups[0]["lr"]
        self.records.append(
            {"step": len(self.records), "loss": self.loss, "grad_norm": self.norm, "lr": rate}
        )
        if self.tool == "torchmortem" and self.peer is not None:
            self.peer.step(loss=self.loss)

    def run(self, program: Program) -> None:
        """Run the program."""
        init, backward, seen = torch.optim.Optimizer.__init__, torch.Tensor.backward, self

        def new_init(self: Any, *args: Any, **kwargs: Any) -> None:
            init(self, *args, **kwargs)
            seen.optimizers.append(self)

        def new_backward(self: Any, *args: Any, **kwargs: Any) -> None:
            backward(self, *args, **kwargs)
            seen.loss = float(self.detach()) if self.numel() == 1 else math.nan

        hooks = [
            register_module_forward_pre_hook(self.begin),
            register_optimizer_step_pre_hook(self.before_step),
            register_optimizer_step_post_hook(self.after_step),
        ]
        torch.optim.Optimizer.__init__, torch.Tensor.backward = new_init, new_backward  # type: ignore[method-assign]
        try:
            exec(compile(program.source, program.name, "exec"), {"__name__": "__main__"})
        except RuntimeError:  # a part of some faults
            assert program.fault is not None, program.name
        finally:
            torch.optim.Optimizer.__init__, torch.Tensor.backward = init, backward  # type: ignore[method-assign]
            for hook in hooks:
                hook.remove()

    def findings(self) -> set[str]:
        """What the tool warned about."""
        if self.tool == "trainproof":
            from trainproof.epoch import check_records

            found = check_records(self.records)["findings"] if self.records else []
            return {each["id"] for each in found if each["level"] in ("WARN", "FAIL")}
        if self.peer is None:
            return set()
        if self.tool == "torch-audit":
            self.peer.unpatch()
            self.peer.finish()
            return {each.rule_id for each in self.peer.findings if each.severity.value != "INFO"}
        self.peer.detach()
        found = [each for each in self.peer._report.findings if each.severity.name != "INFO"]
        return {f"{each.category}: {each.title}" for each in found}


def warnings_in(program: Program, tool: str) -> set[str]:
    """What a tool warned about in a program, without advice on hardware and style."""
    watched = Watched(tool)
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        watched.run(program)
        return {each for each in watched.findings() if not each.startswith(STYLE)}


def fits_kind(found: set[str], kind: str) -> bool:
    """Whether one of the findings names what the fault does."""
    return any(
        kind in kinds.split() for each in found for start, kinds in FITS.items() if each.startswith(start)
    )


def main() -> None:
    logging.disable(logging.CRITICAL)
    torch.set_num_threads(1)
    faulty, sound = faults.programs(), healthy.programs()
    for tool in ("torch-audit", "torchmortem", "trainproof"):
        found = {program.name: warnings_in(program, tool) for program in [*faulty, *sound]}
        right = [p for p in faulty if p.fault is not None and fits_kind(found[p.name], p.fault.kind)]
        print(
            f"{tool}: {sum(bool(found[p.name]) for p in faulty)} of {len(faulty)} faulty programs warned about, "
            f"{len(right)} fitting; {sum(bool(found[p.name]) for p in sound)} of {len(sound)} healthy ones"
        )


if __name__ == "__main__":
    main()
