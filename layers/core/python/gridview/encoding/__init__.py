"""Sortable encodings of values, and their inverses: sort strings, keys, JSON, DynamoDB attribute values, cursors.

I/O: none.
"""
