"""From a request to a plan to an answer: pages, groups, summaries, row numbers.

I/O: aggregate_planner, bitmap_scan, bucket_scan, counting, document_scan, executor, full_scan,
grid, grouping, index_scan, page, row_number, stations, summary.
"""
