"""The language of formulas: parsed, typed and checked when a formula is defined, evaluated on documents; pure.

I/O: none.
"""
