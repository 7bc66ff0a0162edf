"""Following the changes of a project: the feed that its journal is, and webhooks, to which nothing is delivered yet.

I/O: changes, feed, row_moves, webhook_reads, webhook_store.
"""
