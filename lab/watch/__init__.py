"""What a stack does while it runs: samples of its loop, a live view of them, their record, and a page at the end."""
