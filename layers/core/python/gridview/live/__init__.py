"""Following the changes of a project: the feed that its journal is, sockets, and webhooks, to which nothing is delivered yet.

I/O: asked_rows, changes, feed, pushes, row_moves, socket_calls, socket_store, webhook_reads, webhook_store, wire.
"""
