"""What happened in each recording, as rules that any explanation of it must take so often.

Written down from the recordings' own accounts (model_check/shipped/README.md) and from PROTOCOL.md.
"""

from collections.abc import Mapping

ACCOUNTS: Mapping[str, Mapping[str, int]] = {
    # Three kills, then two brokers at once, then one that is started again before its old session has ended: it finds
    # its own registration and gives up. One controller all the while.
    "02-broker-kill-restart": {"crash": 5, "start_process_early": 1, "fail_registration": 1,
        "close_failed_startup": 1, "create_epoch": 1},
    # Five failovers after the first, each with the next epoch; the last kill takes another broker along.
    "03-controller-kill": {"crash": 6, "create_epoch": 1, "increment_epoch": 6},
    # Three times both replicas die. The topic with unclean election then loses its last in-sync replica (D29), and who
    # comes back leads it; the other waits for the one that was in sync. Then the controller dies while both are
    # leaderless, and broker 2 is elected before it has registered: its first context has no live broker. Two try to
    # write the epoch, the first one in vain, for it finds no znode.
    "10-unclean": {"crash": 7, "create_epoch": 1, "increment_epoch": 2},
    # D1: broker 3 reads epoch 1, loses its session, and its write fails when it is back. Controller 1, which acted in
    # epoch 1, is dead by then. Four successes or failures of the write: broker 1's on the absent node, 2's and 3's.
    "12-D1-epoch-write-delayed": {"expire_session": 1, "increment_epoch": 3},
    # D1 by a lost answer: controller 4 writes epoch 2, fails when it writes again, and acts in epoch 1, in which
    # controller 1, stopped and not resigned, has acted.
    "13-D1-epoch-write-connectionloss": {"increment_epoch_unanswered": 1, "expire_session": 1, "crash": 2},
    # The controller is stopped past its session five times, and each time has a successor; a broker is killed while the
    # second is stopped. Six topics; three preferred elections, in the middle of which the last three stops fall.
    "04-controller-zombie": {
        "expire_session": 5, "crash": 1, "create_topic": 6, "request_election": 3, "create_epoch": 1,
    },
    # D3: controller 1 is killed, broker 3's failover fails on a request that is then taken back by hand, and its delete
    # comes when its session is over. That one's next failover fails, too, on what is left (D56): a second resignation.
    "15-D3-resign-deletes-foreign-controller": {
        "crash": 1, "create_topic": 3, "request_election": 1, "withdraw_election": 1,
        "expire_session": 1, "resign_delete": 2,
    },
    # D54: the create is applied and its answer lost. Later the same befalls a conditional write, which is harmless.
    "33-D54-connectionloss-on-create": {"create_state_unanswered": 1},
    # D16: a topic whose only replica is dead gets no leader, so that its replica cannot be taken Offline, not even when
    # its broker is back, or under the next controller: nothing is ever deleted.
    "19-D16-leaderless-topic-delete": {
        "create_topic": 2, "request_deletion": 1, "crash": 2, "delete_queued_topic": 3, "deliver_deletion": 0,
    },
    # D22: a replica is moved away from its broker and back; the copy of the first deletion comes late.
    "20-D22-late-stopreplica": {"request_reassignment": 2, "leave_late_copy": 1, "execute_late_copy": 1},
    # D23: a replica is moved away from a broker that was cut off, and keeps it; the topic is deleted from the other,
    # and there again, on both. The broker ignores epoch 0, for it knows a higher one, until it is killed and is back.
    "21-D23-recreated-topic-orphan": {
        "create_topic": 2, "request_reassignment": 1, "expire_session": 1, "request_deletion": 1, "deliver_deletion": 1,
        "delete_topic": 1, "crash": 1, "request_election": 1,
    },
    # D44: two topics are deleted while they wait for their new replica, old and new alike; the first one is then there
    # again, its old reassignment goes on, and has the old replica deleted once more. D51: the new replica's broker is
    # killed and comes back, which raises for the second.
    "26-D44-delete-during-reassignment": {
        "create_topic": 5, "request_deletion": 2, "request_reassignment": 2, "delete_topic": 2, "deliver_deletion": 5,
        "on_replica_deleted": 4, "crash": 1,
    },
    # D45: one replica is deleted when its broker dies, which marks the topic; then the other is, and the topic is gone.
    # There again, on broker 4 instead of broker 3, it waits until broker 4 has been killed and is back.
    "27-D45-ineligible-mark-survives": {
        "create_topic": 2, "request_deletion": 2, "crash": 2, "delete_topic": 2, "deliver_deletion": 4,
        "on_replica_deleted": 4,
    },
    # D46: a controller without a session has one replica deleted; the other's broker knows its successor by then, which
    # deletes both. The first one waits until it has a session again.
    "28-D46-stale-epoch-answer": {
        "request_deletion": 1, "expire_session": 1, "deliver_deletion": 4, "on_replica_deleted": 4, "delete_topic": 1,
        "resign_delete": 0,
    },
    # D50: the second replica's answer comes just when the death of its broker, which was only cut off, is handled; no
    # line of that controller follows until it is killed. The next one deletes both replicas from the start.
    "30-D50-deadlock": {
        "request_deletion": 1, "expire_session": 1, "deliver_deletion": 4, "on_replica_deleted": 3, "crash": 1,
        "delete_topic": 1,
    },
    # Five topics go, three of them once a broker that was killed is back; one of those moves from broker 2 to 4 then.
    # In between, the deletion of one that never was is asked for: that request is dropped.
    "08-delete": {
        "create_topic": 5, "request_deletion": 5, "request_stray_deletion": 1, "drop_request": 1, "crash": 4,
        "write_addition": 1, "request_reassignment": 1, "write_union": 2, "deliver_deletion": 18, "delete_topic": 5,
    },
    # D53: a topic of one partition is removed by hand. Four others are created, three brokers killed; broker 1 wins
    # three times in vain after it resigned, and again when broker 3, which won then, is dead. At last broker 2 wins.
    "32-D53-foreign-removal": {
        "create_topic": 5, "remove_state": 1, "remove_topic": 1, "crash": 3, "create_epoch": 1, "increment_epoch": 7,
        "resign_delete": 5,
    },
    # D55: the topic is created again, with its replicas the other way round, before its configuration is deleted.
    "34-D55-config-lost": {
        "create_topic": 2, "request_deletion": 1, "deliver_deletion": 2, "delete_topic": 1, "delete_configuration": 1,
    },
    # Two requests; in between and after, three brokers are killed one by one. The rebalance finds broker 3 out of
    # balance, which is fixed, then broker 1 just when it has registered and is not in sync yet, and once more.
    "07-preferred-auto": {
        "crash": 3, "request_election": 2, "delete_election_request": 2, "check_imbalance": 3,
        "rebalance_partition": 6,
    },
    # Eight brokers are told to stop. Five of them may go when they are first answered; of the others, two are left with
    # what no other live broker has, and so is one of the last two, which stop at once: they ask three times.
    "09-controlled-shutdown": {"stop_broker": 8, "accept_shutdown": 14, "answer_shutdown": 14, "leave_cluster": 8},
    # D12: broker 3 is killed and back while its controller waits for the answer to one write.
    "17-D12-bounce-unnoticed": {"crash": 3, "request_election": 1, "delete_election_request": 1},
    # D49 twice, D42 from the second request on: five failovers come to read a request, two of them fail on it, and all
    # others on left-over channels before that, also when the request has been deleted by hand.
    "25-D42-D49-preferred-without-leadership": {
        "crash": 2, "request_election": 2, "withdraw_election": 1, "read_election_request": 5,
        "resign_delete": 125, "increment_epoch": 128,
    },
    # The write of step 1 by controller 1 comes after its session, when controller 2 has completed what it resumed.
    "14-D2-zombie-assignment-write": {
        "request_reassignment": 1, "accept_reassignment": 2, "write_union": 2, "write_move": 1, "write_target": 1,
        "deliver_deletion": 1, "expire_session": 1, "increment_epoch": 3,
    },
    # [2,3] to [3], all of which is in sync: phase B at once. The StopReplica requests die with broker 2. Then to [3,2].
    "23-D38-orphan-after-reassignment": {
        "request_reassignment": 2, "accept_reassignment": 2, "write_union": 1, "write_move": 2, "write_target": 2,
        "deliver_deletion": 0, "crash": 1,
    },
    # Controller 1 accepts [2] to [3], which 3 resumes and completes; 3 accepts [3] to [2]; 1 resumes what it remembers.
    "18-D13-context-not-reset": {
        "request_reassignment": 2, "accept_reassignment": 4, "write_target": 3, "deliver_deletion": 3,
        "increment_epoch": 3,
    },
    # Two that wait for broker 4, resumed by controller 2, and run again when 4 starts; one more for controller 3. Four
    # of the five old replicas are deleted on brokers that live.
    "06-reassign-controller-kill": {
        "request_reassignment": 2, "accept_reassignment": 6, "write_union": 8, "write_move": 3, "write_target": 3,
        "deliver_deletion": 4,
    },
    # Nine are accepted, of which the last is not completed; two are refused. One is begun with again.
    "05-reassign": {
        "request_reassignment": 8, "accept_reassignment": 9, "write_union": 9, "write_move": 8, "write_target": 8,
        "read_remaining": 10, "deliver_deletion": 13,
    },
    # Two partitions, then one; with those of the topics' creations 13 state znodes, and two partitions stay New.
    "01-start-create": {"write_addition": 2, "on_partition_modifications": 2, "create_state": 13},
    # Neither new partition is seen: each write of a controller undoes one. Two reassignments, two writes each.
    "24-D39-lost-partition": {"write_addition": 2, "create_state": 2, "write_union": 2, "write_target": 2},
}  # fmt: skip
"""How often some rules must occur, by recording."""
