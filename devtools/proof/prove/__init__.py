"""`./dev prove`: the proofs that take too long for every change."""
