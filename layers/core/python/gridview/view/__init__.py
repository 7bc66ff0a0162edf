"""One request's view of the index: blocks and directories, with the end of the journal and new issues laid over.

I/O: beats, block_reader, column_reader, context, freshness, index_snapshot,
index_view, issue_count, journal_tail, new_issues, recent_changes.
"""
