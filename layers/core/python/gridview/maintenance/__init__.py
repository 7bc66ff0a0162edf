"""Background work on projects: passes over issues that make definitions true, and the jobs of people.

I/O: bulk, folding, job_line, job_queue, job_worker, numbered_turn, rebuild_pass, removal, undo_job.
"""
