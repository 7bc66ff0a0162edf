"""The cost of one user to other tenants, in virtual time and on a local stack."""
