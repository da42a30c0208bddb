"""Claims that are asked of a recording directly, without any search: whether what was seen breaks one.

Runtime verification: each claim is a small monitor over what left the processes, which is ZooKeeper's transactions and
the requests that arrived at brokers. So it is asked of anybody's controller and brokers, in seconds. A break is
reported only where no correct behaviour could show what was seen; README.md tells what each claim needs.
"""
