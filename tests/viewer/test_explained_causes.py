"""The cause that is named is what happened: under no_grad(), in a checkpoint, in a custom Function, in the
data."""

from __future__ import annotations
