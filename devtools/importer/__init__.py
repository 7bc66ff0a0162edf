"""`./dev import`: rows of a file become issues of a project, through the HTTP API only."""
