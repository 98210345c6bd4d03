"""How the programs print what they know about a tensor."""


def show(when, **tensors):
    """Two lines for each tensor: its value and grad_fn, then its other autograd attributes.

    What an object does not have counts as None, so a gradient that was not kept can be shown as well.
    """
    print(f"[{when}]")
    for name, t in tensors.items():
        flags = [f"{a} {getattr(t, a, None)}" for a in ("requires_grad", "is_leaf", "retains_grad")]
        print(f"{name}  {t!s}  grad_fn {getattr(t, 'grad_fn', None)}")
        print(f"   {', '.join(flags)}, grad {getattr(t, 'grad', None)}")
