"""The numbered log of a project's changes: how items are committed, settled and folded into blocks; and the
history.

I/O: change_members, column_fold, committer, fold, gaps, history, log, maintainer.
"""
