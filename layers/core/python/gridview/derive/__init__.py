"""What is derived from an issue: its image as of one version, the keys that it is to have, and the ledger of those it has.

I/O: none.
"""
