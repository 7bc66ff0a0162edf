"""The data derived from issues, and the code that keeps it right: sort entries, ledgers, blocks, the stream consumer.

I/O: block_reader, block_writer, change_members, committer, dead_letters, fold, freshness, gaps, heartbeat, history, issue_count,
journal_log, journal_tail, maintainer, partitions, stream_consumer, trash_list, unheard.
"""
