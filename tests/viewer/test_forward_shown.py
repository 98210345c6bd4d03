"""Forward mode in text and picture: a tensor's tangent, and how it comes from those of the inputs."""

from __future__ import annotations

import json

import pytest
from cells import traced

from minigrad_viz.trace.events import Trace

pytestmark = pytest.mark.usefixtures("names_of_today")


def test_a_trace_from_before_there_were_tangents():
    data = json.loads(traced("x = torch.tensor(2.0)\ny = x * 3\n").to_json())
    for event in data["events"]:
        for state in event.get("outputs", [event.get("tensor")] if event.get("tensor") else []):
            del state["tangent"]
    assert Trace.from_json(json.dumps(data)) == traced("x = torch.tensor(2.0)\ny = x * 3\n")
