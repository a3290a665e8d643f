"""Work in the background: one experiment at a time, in a process of its own."""
