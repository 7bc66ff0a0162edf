"""Proofs of the core: the fault simulator with its mutants, and the oracle."""
