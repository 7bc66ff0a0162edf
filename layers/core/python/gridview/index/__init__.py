"""What is derived from issues, and how it stays right: sort entries, ledgers, blocks, the stream consumer."""
