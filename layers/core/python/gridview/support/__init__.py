"""What any program needs: errors, the clock, back-off, concurrency, validation, stored forms, signed requests.
It knows nothing of grids or DynamoDB.

I/O: aws, connections, signed_requests.
"""
