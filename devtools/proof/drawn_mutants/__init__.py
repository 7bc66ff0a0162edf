"""Mutants of the core that a generator draws: `drawing` makes them, `covering` finds their tests, `judging` runs these."""
