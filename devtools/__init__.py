"""Everything behind `./dev`: the local stack, checks, deploys, imports and the bench. No deployed asset contains it."""
