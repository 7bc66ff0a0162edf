"""Single writes and plain reads for a caller: projects, attributes, composite indexes, issues, batches, users.

I/O: attempts, attributes, batch, composite_indexes, idempotency, issues, journals, option_usage, projects, reads,
users, write_rate.
"""
