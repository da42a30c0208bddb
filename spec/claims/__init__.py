"""What is claimed: the sentences about states, steps and whole runs that every engine asks, a file for each part."""
