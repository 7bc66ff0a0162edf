"""What a caller may write: projects, attributes, composite indexes, issues, batches."""
