"""The Data page: upload, mapping, policies, report, one dataset in detail."""
