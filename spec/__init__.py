"""What is right: the ZooKeeper-era Kafka controller as tables, schemas, actions and properties.

The protocol is written here once, as z3 terms, and nowhere else: proofs, enumeration, refinement, vectors and stories
all read these same term objects, so what is proved and what is measured cannot drift apart. Nothing in this package
runs a controller or searches a state space; it imports neither `reference` nor `model_check`.

`PROTOCOL.md`, beside the modules, tells the same in words, and what was read in Kafka's code or seen on real clusters:
"PROTOCOL.md section 7.4" and "D44" name its sections and its defects.
"""
