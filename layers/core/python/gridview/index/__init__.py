"""The data derived from issues, and the code that keeps it right: sort entries, ledgers, blocks, the stream consumer.

I/O: block_reader, block_writer, dead_letters, freshness, issue_count, maintainer, stream_consumer.
"""
