"""What any program needs: errors, the clock, back-off, concurrency, validation. Knows nothing of grids or DynamoDB.

I/O: aws.
"""
