"""Two runs beside each other: what they did first that was not the same."""
