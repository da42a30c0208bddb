"""Results that are used again: what was verified is not verified again, as long as nothing that it rests on changed."""
