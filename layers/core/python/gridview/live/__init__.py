"""Following the changes of a project: its feed (the journal), sockets, and webhooks.

I/O: asked_rows, bucket_store, changes, deliveries, delivery_attempts, delivery_hints, due_messages, feed,
management_client, open_polls, outbox_store, push_pages, push_turn, pushes, resealing, row_moves, seat_store,
sending, socket_calls, socket_store, webhook_reads, webhook_store, wire.
"""
