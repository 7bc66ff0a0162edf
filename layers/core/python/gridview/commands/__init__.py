"""Single writes and plain reads for a caller: projects, attributes, indexes, issues, batches, jobs, trash,
views, comments, users.

I/O: attempts, attributes, batch, comments, composite_indexes, context, deleted_attributes, deleted_projects,
formula_check, idempotency, issues, jobs, manual_orders, option_usage, placing, projects, reads, trash, undo, users,
views, write_rate, written_changes.
"""
