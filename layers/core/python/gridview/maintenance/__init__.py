"""Background work on projects: jobs, and the passes over issues that they make.

I/O: job_worker, rebuild_pass.
"""
