package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// This file has what a controller does as brokers come and go, and as they ask for their controlled shutdown.

// onBrokerStartup tells the new brokers of their replicas, and elects where nobody could lead.
func (k *kafkaController) onBrokerStartup(started brokers) error {
	if err := k.sendUpdateMetadata(); err != nil {
		return err
	}
	replicas := k.replicasOn(started)
	k.handleStateChanges(replicas, change{target: "OnlineReplica"})
	k.triggerOnline()
	for _, name := range sortedKeys(k.reassigning) {
		if r := k.reassigning[name]; r != nil && len(r.replicas.in(started)) > 0 {
			if err := k.onPartitionReassignment(name, r); err != nil {
				return err
			}
		}
	}
	for _, key := range replicas {
		if k.isQueued(partitionOf(key)) {
			k.resumeDeletion(topicOf(partitionOf(key)))
		}
	}
	return nil
}

// onBrokerFailure elects for what the dead have led, and takes their replicas offline.
func (c *controller) onBrokerFailure(dead brokers) error {
	c.shuttingDown = c.shuttingDown.without(dead)
	leaderless := []string{}
	for _, name := range sortedKeys(c.leaderships) {
		if dead.has(c.leaderships[name].Leader) && !c.isQueued(name) {
			leaderless = append(leaderless, name)
		}
	}
	c.handleStateChanges(leaderless, change{target: "OfflinePartition"})
	c.triggerOnline()
	var gone, deleting []string
	for _, key := range c.replicasOn(dead) {
		if c.isQueued(partitionOf(key)) {
			deleting = append(deleting, key)
		} else {
			gone = append(gone, key)
		}
	}
	c.handleStateChanges(gone, change{target: "OfflineReplica"})
	c.failReplicaDeletion(deleting)
	if len(leaderless) > 0 || c.adapter.upTo("as-coded-0.8.2") {
		return nil
	}
	return c.sendUpdateMetadata()
}

// shutdownBroker moves what a broker leads, and stops its other replicas, where somebody else has one. It gives what
// the broker leads still.
func (c *controller) shutdownBroker(broker int) (remaining []string, err error) {
	if leaving := (brokers{broker}); !c.shuttingDown.has(broker) {
		c.shuttingDown = append(slices.Clone(c.shuttingDown), leaving...)
	}
	for _, name := range c.names() {
		leads, led := c.leaderships[name]
		if !led || len(c.assigned[name]) < 2 || !c.assigned[name].has(broker) {
			continue
		} else if leads.Leader == broker {
			c.handleStateChanges([]string{name}, change{target: "OnlinePartition", selector: "controlled-shutdown"})
			continue
		}
		if err := c.sendStop(broker, name); err != nil {
			return nil, err
		}
		c.handleStateChanges([]string{replicaKey(name, broker)}, change{target: "OfflineReplica"})
	}
	remaining = []string{}
	for _, name := range sortedKeys(c.leaderships) {
		if c.leaderships[name].Leader != broker {
			continue
		}
		replicas, known := c.assigned[name]
		if !known {
			return nil, fmt.Errorf("%s has leadership and no assigned replicas", name)
		} else if len(replicas) > 1 {
			remaining = append(remaining, name)
		}
	}
	return remaining, nil
}

// sendStop stops a replica by a batch of its own.
func (c *controller) sendStop(broker int, name string) error {
	return c.resigning(func() error {
		if err := c.batch.begin(); err != nil {
			return err
		}
		c.batch.addStop(broker, name, false, false)
		return c.batch.send()
	})
}

// onBrokerChange takes the brokers that are registered for the live ones, and then handles those that are new, and
// those that are gone. What is raised on the way leaves out the rest for ever (D51).
func (k *kafkaController) onBrokerChange(children []string) error {
	if !k.replicasStarted {
		return nil
	}
	now, err := k.readBrokers(children)
	if err != nil {
		return err
	}
	started, dead := now.without(k.registered), k.registered.without(now)
	k.registered = now
	for _, broker := range started {
		k.channelTo[broker], k.opened[broker] = true, true
	}
	for _, broker := range dead {
		k.closeChannel(broker)
	}
	if len(started) > 0 {
		if err := k.onBrokerStartup(started); err != nil {
			return err
		}
	}
	if len(dead) > 0 {
		return k.onBrokerFailure(dead)
	}
	return nil
}

// closeChannel forgets a channel, with the requests that have not been answered.
func (k *kafkaController) closeChannel(broker int) {
	delete(k.channelTo, broker)
	delete(k.opened, broker)
	maps.DeleteFunc(k.awaited, func(_, to int) bool { return to == broker })
}

// readBrokers reads the registrations, and gives the ids of those that are there still.
func (k *kafkaController) readBrokers(ids []string) (brokers, error) {
	registered := brokers{}
	for _, id := range ids {
		path := brokersPath + "/" + id
		data, _, err := k.zk.get(path)
		if errors.Is(err, errNoNode) {
			continue
		} else if err != nil {
			return nil, err
		}
		var value object
		if err := k.adapter.readInto(path, data, &value); err != nil {
			return nil, err
		}
		broker, err := strconv.Atoi(id)
		if err != nil {
			return nil, err
		}
		registered = append(registered, broker)
	}
	return registered.set(), nil
}

// onControlledShutdown gives what a broker is answered that asks for its controlled shutdown.
func (k *kafkaController) onControlledShutdown(broker int) (code int, remaining []string) {
	const unknown, brokerNotAvailable, controllerMoved = -1, 8, 11
	if !k.isActive() {
		return controllerMoved, []string{}
	} else if !k.registered.has(broker) {
		return brokerNotAvailable, []string{}
	}
	remaining, err := k.shutdownBroker(broker)
	if err != nil {
		return unknown, []string{}
	}
	return 0, remaining
}
