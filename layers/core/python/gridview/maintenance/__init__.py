"""Background work on projects: jobs, and the passes over issues that they make."""
