"""Why a training run does not learn: what is known about a run, and the rules that find faults in it.

A rule is a function of an `Evidence`, which comes from one of two sources: the doctor watches a run
(`training_runs`), and `%%autograd` has recorded a cell with a loop (`explaining/recorded_loops.py`). So each
fact is judged in one place, under one key and in one sentence.
"""
