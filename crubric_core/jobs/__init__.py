"""Work in the background: experiments in separate processes, other long work in threads, and backups."""
