"""The only package that talks to DynamoDB."""
