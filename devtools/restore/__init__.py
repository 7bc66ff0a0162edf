"""`./dev restore`: makes a table of an earlier moment safe to go on with, for the local stack or a deployed one."""
