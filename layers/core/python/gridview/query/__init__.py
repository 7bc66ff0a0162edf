"""From a request to a plan to an answer: pages, groups, summaries, row numbers.

I/O: answer, counting, executor, grid, index_snapshot, row_number.
"""
