"""Operators' commands, for the local stack or a deployed one."""
