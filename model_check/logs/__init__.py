"""Real logs judged alone: what state-change.log, controller.log and server.log of Kafka 0.8.2 to 2.8 tell.

Whoever has a cluster that went wrong has its logs, and seldom ZooKeeper's. A line is a witness of its own: a transition
is a row of a table or it is not one, an epoch is printed by its controller, a broker says which request it refused. So
the questions here are those that lines answer: nothing is searched, and nothing is guessed at where lines are missing.

    chunks      pieces of files, each read by itself, on any worker    (heads, patterns, reading)
    streams     the pieces in order: what a later line says of an earlier one    (one_stream, controllers_seen, fences)
    clusters    the files of one cluster together: epochs, terms, clocks         (clusters, terms)
    findings    a document as every verb makes                                   (questions, findings)
"""
