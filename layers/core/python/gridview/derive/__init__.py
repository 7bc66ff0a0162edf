"""Derives data from an issue: its image as of one version, its keys, and the ledger of its present keys.

I/O: none.
"""
