"""Does the autoscaling of a stack work, here and now? Everything is read first, then judged against the specs."""
