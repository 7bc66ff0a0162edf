"""The comparison of what is derived with the issues, and its repair.

I/O: block_membership, chain_check, chain_repair, chain_visits, checker, definitions, nightly, repair, repairs, walks.
"""
