"""Values to bytes that sort, and back: sort strings, keys, JSON, DynamoDB's attribute values, cursors.

I/O: none.
"""
