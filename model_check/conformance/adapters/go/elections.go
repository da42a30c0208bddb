package main

import (
	"errors"
	"fmt"
)

// This file has the elections of preferred replicas: those that are asked for, and those of the automatic rebalance.

const electionPath = "/admin/preferred_replica_election"

// readElections reads for which partitions an election is asked. It fails where one is named twice.
func (k *kafkaController) readElections(data *string) ([]string, error) {
	var value struct{ Partitions []topicPartition }
	if err := k.adapter.readInto(electionPath, data, &value); err != nil {
		return nil, err
	}
	asked := map[string]bool{}
	for _, p := range value.Partitions {
		if asked[p.name()] {
			return nil, fmt.Errorf("%s is named twice", p.name())
		}
		asked[p.name()] = true
	}
	return sortedKeys(asked), nil
}

// onElectionRequest elects for the partitions that are asked for, unless that is going on, or their topics are queued
// for deletion.
func (k *kafkaController) onElectionRequest(data *string) error {
	asked, err := k.readElections(data)
	if err != nil {
		return err
	}
	names := []string{}
	for _, name := range asked {
		if k.electing[name] {
			continue
		} else if err := k.needDeletionManager(); err != nil {
			return err
		} else if !k.isQueued(name) {
			names = append(names, name)
		}
	}
	return k.electPreferred(names, false)
}

// initializeElections reads the request at a failover, without what is done already, or cannot be.
func (k *kafkaController) initializeElections() error {
	data, _, err := k.zk.get(electionPath)
	if errors.Is(err, errNoNode) {
		return nil
	} else if err != nil {
		return err
	}
	asked, err := k.readElections(data)
	if err != nil {
		return err
	}
	done := map[string]bool{}
	for _, name := range asked {
		replicas, known := k.assigned[name]
		leads, led := k.leaderships[name]
		if known && (!led || len(replicas) == 0) {
			return fmt.Errorf("nobody knows who leads %s", name)
		}
		done[name] = !known || leads.Leader == replicas[0]
	}
	for name, isDone := range done {
		k.electing[name] = true
		if isDone {
			delete(k.electing, name)
		}
	}
	return nil
}

// electPreferred has the first replicas elected. Where a partition is not known or has no leadership, it fails before
// the request and the running elections are cleaned up (D49).
func (k *kafkaController) electPreferred(names []string, automatic bool) error {
	for _, name := range names {
		k.electing[name] = true
		k.markIneligible(topicOf(name))
	}
	k.handleStateChanges(names, change{target: "OnlinePartition", selector: "preferred"})
	for _, name := range names {
		if _, led := k.leaderships[name]; !led || len(k.assigned[name]) == 0 {
			return fmt.Errorf("nobody knows who leads %s", name)
		}
	}
	if !automatic {
		if _, err := k.zk.delete(electionPath); err != nil {
			return err
		}
	}
	for _, name := range names {
		delete(k.electing, name)
		k.resumeDeletion(topicOf(name))
	}
	return nil
}

// rebalance elects where a broker leads too few of the partitions that prefer it.
func (k *kafkaController) rebalance() error {
	if !k.isActive() {
		return nil
	} else if err := k.needDeletionManager(); err != nil {
		return err
	}
	b := balance{
		Partitions: map[string]balanced{}, Live: k.live(), Percentage: k.settings.ImbalancePercent,
		Deleting: sortedKeys(k.queued), Reassigning: sortedKeys(k.reassigning), Electing: sortedKeys(k.electing),
	}
	for name, replicas := range k.assigned {
		p := balanced{Assigned: replicas}
		if leads, led := k.leaderships[name]; led {
			p.Leader = &leads.Leader
		}
		b.Partitions[name] = p
	}
	names, err := b.lost()
	if err != nil {
		return err
	}
	for _, name := range names {
		if k.allTopics[topicOf(name)] {
			if err := k.electPreferred([]string{name}, true); err != nil {
				return err
			}
		}
	}
	return nil
}
