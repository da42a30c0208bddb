"""What a controller writes to controller.log, one file for each of its parts; `lines` has them all and the parser.

Kafka names the part that speaks in front of every line (`[Partition state machine on Controller 1]: `); a class for
each part has that prefix, and the lines are its subclasses. Every format is the one of Kafka's sources at the tags
0.8.2.2, 0.9.0.1, 0.10.0.1, 0.10.1.1 and 0.10.2.2, PROTOCOL.md section 12.4.

Left out on purpose: the requests inside a line, which stay text, and the lines of `ZookeeperLeaderElector`, which
stand in server.log.
"""
