"""A soak: mixed load on a local stack whose processes are killed, and then a comparison of everything.

`stack` starts, kills and measures the processes, `client` calls the API until it answers, `load` writes, `followers` follow,
and `judging` compares. All is done from outside, as users do it.
"""
