"""What is derived from issues, and how it stays right: sort entries, ledgers, blocks, the stream consumer.

I/O: block_reader, block_writer, dead_letters, freshness, issue_count, maintainer, stream_consumer.
"""
