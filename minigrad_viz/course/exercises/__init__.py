"""The exercises of the course: a module for each notebook, with `EXERCISES`, functions by name ("" for the
only one), and `HINTS`, what they may say: pairs of English and Korean."""
