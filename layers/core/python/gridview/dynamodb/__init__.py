"""The only package that talks to DynamoDB.

I/O: client, side_by_side, table.
"""
