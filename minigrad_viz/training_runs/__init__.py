"""The doctor: watches a training run lightly, and says why it does not learn.

Data flows in one direction: the observer (`observer.py`) takes evidence while the run goes on, the rules of
`training_faults` are functions of that evidence, and the reports (`report_text.py`, `report_html.py`,
`export.py`) show what they found.
Nothing here keeps a tensor of the run alive, and all hooks are gone when the run has ended.
"""

from __future__ import annotations

from .doctor import Doctor, doctor

__all__ = ["Doctor", "doctor"]
