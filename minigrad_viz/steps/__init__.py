"""Trace and Graph → Frames: the steps that a reader walks through, each with its sentence and arithmetic."""
