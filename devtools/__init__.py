"""The commands of `./dev`: the local stack, checks, deployments, imports and the benchmark.

No deployed asset contains them.
"""
