"""The page in a browser: what people wait for, before a local stack with many issues."""
