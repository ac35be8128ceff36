"""What a rehearsal does to a lab and sees of it: timelines of the API server's objects, notices, power cuts, outages."""
