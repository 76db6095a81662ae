"""What users hand in, read once: columns, their kinds, and what each entry is."""
