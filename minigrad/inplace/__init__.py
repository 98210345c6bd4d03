"""Views, and ops in place, which are derived from the ops: no derivative is written twice."""
