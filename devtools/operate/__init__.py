"""Commands of operators, on the local stack or a deployed one."""
