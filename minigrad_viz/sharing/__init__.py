"""A cell outside of a notebook: films, slides and worksheets."""
