"""The endpoints of the command function, which write: one module and one router for each resource.

I/O: attributes, comments, container, history, indexes, issues, jobs, projects, resources, trash, users,
views, webhooks, writes.
"""
