"""The context in which a recorder reads tensors of PyTorch, so that nothing of the user's notices it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any


def shield_of(torch: Any) -> Callable[[], Any]:
    """What gives a context in which neither modes, nor a tensor class's own `__torch_function__`, nor a
    profiler see what is read."""
    from torch._ops import _len_torch_dispatch_stack_pre_dispatch as before_dispatch
    from torch.utils import _python_dispatch as dispatch

    functions, modes = torch._C.DisableTorchFunction, torch._C._len_torch_dispatch_stack
    profiled, record = torch._C._autograd._profiler_enabled, torch._C._autograd._enable_record_function

    @contextlib.contextmanager
    def unseen() -> Iterator[None]:
        profiling, taken = profiled(), []
        if profiling:
            record(False)
        with contextlib.ExitStack() as others:
            others.enter_context(functions())
            if before_dispatch():
                others.enter_context(dispatch._disable_current_modes())
            taken = [dispatch._pop_mode() for _ in range(modes())]
            try:
                yield
            finally:
                for mode in reversed(taken):
                    dispatch._push_mode(mode)
                if profiling:
                    record(True)

    def shield() -> Any:
        return unseen() if modes() or profiled() or before_dispatch() else functions()

    return shield
