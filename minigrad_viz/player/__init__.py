"""The player of the steps: a widget, and the same as self-contained HTML."""
