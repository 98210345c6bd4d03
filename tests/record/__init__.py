"""Recorded behavior of minigrad as data. `make.py` writes it, and `test_recorded` compares the code with it.

A name that `minigrad/tables/left_out.txt` lists may be gone. Everything else stays as it is recorded here.
"""
