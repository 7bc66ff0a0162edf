"""What proves the core: the fault simulator with its mutants, and the oracle."""
