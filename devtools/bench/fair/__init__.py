"""What one user can cost other tenants, in virtual time and on a local stack."""
