"""The inventory: what the project checks, fact by fact, as somebody accepted it; so that nothing gets less unnoticed.

A gate that compares what is found with the manifest passes whoever shrinks a scope and measures anew, drops a claim, or
takes a scope out of the everyday run. So `inventory.txt` holds a line for each such fact: bounds, flags and
expectations of every scope, claims, actions, rows, switches, defects, recordings, what the gate runs, and digests of
every system and of the modules that compare. `kcheck verify` compares; `kcheck accept` alone writes it, and says in
words what changed.

A digest says that something moved, not whether that is right: what is right is for the other checks, and for whoever
reviews the lines that changed.
"""
