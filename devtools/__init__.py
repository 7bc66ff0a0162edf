"""Everything behind `./dev`: the local stack, checks, deployments, imports and the benchmark. No deployed asset contains it."""
