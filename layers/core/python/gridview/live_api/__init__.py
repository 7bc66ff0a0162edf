"""The endpoints of the live function, which follow changes.

I/O: changes, container, resources.
"""
