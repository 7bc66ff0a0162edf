"""Parts that any program needs: errors, the clock, back-off, concurrency, validation, stored forms, signed
requests.

They know nothing of grids or DynamoDB.

I/O: aws, connections, signed_requests.
"""
