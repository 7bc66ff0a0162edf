"""What any program needs: errors, the clock, back-off, concurrency, validation, stored forms. Knows nothing of grids or DynamoDB.

I/O: aws.
"""
