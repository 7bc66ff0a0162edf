"""Background work on projects: jobs, and the passes over issues that they make.

I/O: folding, job_queue, job_worker, rebuild_pass.
"""
