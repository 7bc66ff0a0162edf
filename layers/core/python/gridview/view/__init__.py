"""What one request sees of the index: its blocks and directories, with the end of the journal and new issues laid over.

I/O: beats, block_reader, context, freshness, index_snapshot, index_view, issue_count, journal_tail, recent_changes, unheard.
"""
