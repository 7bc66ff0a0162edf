"""What writes for a caller: the endpoints of the command function, one module and one router for each resource.

I/O: attributes, comments, container, history, indexes, issues, jobs, projects, resources, trash, users, views, webhooks, writes.
"""
