"""Background work on projects: jobs, and the passes over issues that they make.

I/O: job_queue, job_worker, rebuild_pass.
"""
