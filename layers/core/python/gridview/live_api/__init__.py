"""What follows changes: the endpoints of the live function.

I/O: changes, container, resources.
"""
