"""Why a ZooKeeper server does not run, each in one line that says what to do.

ZookeeperServerError     the server did not start, or has ended; its own last words are in the message
├── JavaMissing          there is no java to run it with
├── JarsMissing          the pyspark package has no ZooKeeper jars
├── PortTaken            another process listens on its port
└── DiskFull             no space is left for its data
"""

from __future__ import annotations


class ZookeeperServerError(RuntimeError):
    """The server did not start, or has ended; its own last words are in the message."""


class JavaMissing(ZookeeperServerError):
    """There is no java to run the server with."""


class JarsMissing(ZookeeperServerError):
    """The pyspark package has no ZooKeeper jars."""


class PortTaken(ZookeeperServerError):
    """Another process listens on the server's port."""


class DiskFull(ZookeeperServerError):
    """No space is left for the server's data."""
