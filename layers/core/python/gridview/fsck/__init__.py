"""Compares derived data with the issues, and repairs it.

I/O: block_membership, block_ranges, chain_check, chain_repair, chain_visits, checker, column_check, column_visits,
definitions, nightly, repair, repairs, walks.
"""
