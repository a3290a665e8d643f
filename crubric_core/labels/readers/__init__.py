"""Any file, any layout: what it holds, how it would be read (a plan), and its canonical rows; knows no workspace."""
