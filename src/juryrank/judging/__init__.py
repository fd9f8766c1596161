"""What votes say about the judges who cast them: verdicts, consistency, camps, the report."""
