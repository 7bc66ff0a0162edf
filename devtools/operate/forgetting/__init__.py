"""Forgets a person or a tenant: `places` lists where they can be, `redaction` rewrites items, `person` and `tenant` do it."""
