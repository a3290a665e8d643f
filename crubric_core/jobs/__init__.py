"""Work in the background: experiments in processes, other work in threads, and backups for other processes."""
