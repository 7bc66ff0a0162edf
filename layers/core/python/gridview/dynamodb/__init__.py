"""The only package that talks to DynamoDB.

I/O: client, leases, partitions, sessions, side_by_side, signed_client, table.
"""
