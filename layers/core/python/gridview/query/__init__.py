"""From a request to a plan to an answer: pages, groups, summaries, row numbers."""
