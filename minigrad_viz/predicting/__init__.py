"""Questions about a cell that its own trace answers, and what a wrong answer tells."""
