"""Random formulas, whose values the language and an evaluator that shares no code with it both compute.

`python -m devtools.proof.formulas` compares many, and `--seed` repeats one.
"""
