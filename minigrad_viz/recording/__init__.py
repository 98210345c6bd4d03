"""The recorder: it writes down what a cell does, and changes nothing."""
