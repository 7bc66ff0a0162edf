"""Background work on projects: passes over issues that make definitions true, and the jobs of people.

I/O: as_of, batch_bucket, bulk, dead_letters, export, export_files, export_links, fold_wakes, folding,
forgotten_answers, job_line, job_parts, job_queue, job_rights, job_worker, numbered_turn, rebalancing, rebuild_pass, redrive,
removal, stream_consumer, trash_list, undo_job.
"""
