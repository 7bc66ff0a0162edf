"""What one request sees of the index: its blocks and directories, with the end of the journal and new issues laid over.

I/O: block_reader, freshness, heartbeat, index_snapshot, issue_count, journal_tail, unheard.
"""
