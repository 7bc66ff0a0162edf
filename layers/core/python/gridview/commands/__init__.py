"""What a caller may write and read one by one: projects, attributes, composite indexes, issues, batches.

I/O: attributes, batch, composite_indexes, idempotency, issues, option_usage, projects, reads.
"""
