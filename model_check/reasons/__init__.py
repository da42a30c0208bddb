"""Why a claim is broken, and why a step is not possible: the parts of a term that decide, in words, with values."""
