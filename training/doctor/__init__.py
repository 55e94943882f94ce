"""Watches a run from outside: measures, verdict, pictures, report."""
