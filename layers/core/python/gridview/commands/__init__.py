"""Single writes and plain reads for a caller: projects, attributes, composite indexes, issues, batches.

I/O: attempts, attributes, batch, composite_indexes, idempotency, issues, option_usage, projects, reads,
write_rate.
"""
