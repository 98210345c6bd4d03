"""Graph → DOT → positions → SVG, and the same as an outline and as a table."""
