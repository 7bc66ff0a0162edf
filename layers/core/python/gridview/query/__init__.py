"""From a request to a plan to an answer: result pages, groups, summaries, row numbers; and saved views.

I/O: activity_pages, answer, change_lists, counting, executor, frozen_numbers, frozen_rows, grid, neighbors,
row_number.
"""
