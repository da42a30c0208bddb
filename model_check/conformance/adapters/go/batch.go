package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// This file has the batches of requests (ControllerBrokerRequestBatch), and send_batch, which asks for one.

// errIllegalState says that a batch cannot be begun or sent. It is Kafka's IllegalStateException.
var errIllegalState = errors.New("illegal state")

// leadership is what the controller has of a partition that has ever had a leader.
type leadership struct {
	state
	ZkVersion int `json:"zk_version"`
}

// told is what a request says of a partition.
type told struct {
	leadership
	Replicas brokers `json:"replicas"`
}

// named is what is told of a partition, with its name.
type named struct {
	Partition string `json:"partition"`
	told
}

// stop is a replica that is to be stopped, and whether the answer is waited for.
type stop struct {
	partition          string
	withDelete, answer bool
}

// batch is what was added, by broker. Brokers that are not registered may be there too; they are sent nothing.
type batch struct {
	controller   *controller
	leaderAndIsr map[int]map[string]told
	metadata     map[int]map[string]told // a broker may be there for whom no partition was added
	everybody    map[string]told         // the partitions of metadata, whoever it was they were added for
	stops        map[int][]stop
}

// newBatch is an empty one of a controller.
func newBatch(c *controller) *batch {
	b := &batch{controller: c}
	b.clear()
	return b
}

// clear takes out all that was added.
func (b *batch) clear() {
	b.leaderAndIsr, b.metadata = map[int]map[string]told{}, map[int]map[string]told{}
	b.everybody, b.stops = map[string]told{}, map[int][]stop{}
}

// begin fails where something is left of a batch that was not sent.
func (b *batch) begin() error {
	if len(b.leaderAndIsr)+len(b.metadata)+len(b.stops) > 0 {
		return fmt.Errorf("%w: the batch is not empty", errIllegalState)
	}
	return nil
}

// send sends what was added, and empties the batch if that succeeds.
func (b *batch) send() error {
	if err := b.controller.channels.deliver(b); err != nil {
		return fmt.Errorf("%w: %w", errIllegalState, err)
	}
	b.clear()
	return nil
}

// addLeaderAndIsr adds what is to be told of a partition for some brokers, and its metadata for all.
func (b *batch) addLeaderAndIsr(to brokers, name string, what leadership, replicas brokers) error {
	for _, broker := range to {
		if broker >= 0 {
			put(b.leaderAndIsr, broker, map[string]told{name: {what, replicas.set()}})
		}
	}
	return b.addMetadata(b.controller.registered, []string{name})
}

// addMetadata adds partitions, and those that are being deleted beside them, for some brokers; no partitions are all
// that have leadership. It fails where one of them has no AR. Then the brokers stay in the batch.
func (b *batch) addMetadata(to brokers, asked []string) error {
	c, asksForSome := b.controller, len(asked) > 0
	if c.leaving == nil {
		return errors.New("there is no deletion manager yet to ask")
	}
	if !asksForSome {
		asked = slices.Collect(maps.Keys(c.leaderships))
	}
	asked = slices.DeleteFunc(slices.Clone(asked), c.isLeaving)
	added := map[string]told{}
	var err error
	for _, name := range slices.Concat(asked, slices.Collect(maps.Keys(c.leaving))) {
		leads, led := c.leaderships[name]
		if !led {
			continue
		}
		replicas, known := c.assigned[name]
		if !known {
			err = fmt.Errorf("%s has leadership and no assigned replicas", name)
		}
		if c.isLeaving(name) {
			leads.Leader, leads.LeaderEpoch, leads.ZkVersion = -2, 0, 0
		}
		added[name] = told{leads, replicas.set()}
	}
	if asksForSome && len(asked) > 0 && len(added) == 0 && c.adapter.upTo("as-coded-0.10.1") {
		return err // a broker was added only with its first partition, unless all that were asked for are being deleted
	}
	maps.Copy(b.everybody, added)
	for _, broker := range to {
		put(b.metadata, broker, added)
	}
	return err
}

// addStop adds a replica to be stopped.
func (b *batch) addStop(broker int, name string, withDelete, answer bool) {
	if broker >= 0 {
		b.stops[broker] = append(b.stops[broker], stop{name, withDelete, answer})
	}
}

// put adds partitions to those of a broker, and the broker even if there are none.
func put(to map[int]map[string]told, broker int, added map[string]told) {
	if to[broker] == nil {
		to[broker] = map[string]told{}
	}
	maps.Copy(to[broker], added)
}

// ---- What a broker is sent ----

// leaderAndIsrFor makes of all that was added for a broker one request.
func (b *batch) leaderAndIsrFor(broker int) []object {
	partitions := b.leaderAndIsr[broker]
	if partitions == nil {
		return nil
	}
	var leaders brokers
	for _, info := range partitions {
		leaders = append(leaders, info.Leader)
	}
	live := leaders.in(b.controller.registered).set()
	return []object{{"name": "LeaderAndIsr", "partitions": listed(partitions), "live_leaders": live}}
}

// listed has partitions as a request has them, by name.
func listed(partitions map[string]told) []named {
	list := []named{}
	for _, name := range slices.Sorted(maps.Keys(partitions)) {
		list = append(list, named{name, partitions[name]})
	}
	return list
}

// metadataFor makes one request, of the same partitions for everybody from 0.10.2 on.
func (b *batch) metadataFor(broker int) []object {
	partitions, toldToo := b.metadata[broker]
	if !toldToo || len(partitions) == 0 && b.controller.adapter.upTo("as-coded-0.8.2") {
		return nil
	}
	if !b.controller.adapter.upTo("as-coded-0.10.1") {
		partitions = b.everybody
	}
	return []object{{"name": "UpdateMetadata", "partitions": listed(partitions), "live_brokers": b.controller.registered}}
}

// stopsFor makes one request for each replica. From 0.10.2 on those that are not to be deleted are in one, which goes
// first, and goes even if there are none. It says of which requests the answer is waited for.
func (b *batch) stopsFor(broker int) (sent []object, answers []bool) {
	grouped, before := []string{}, b.controller.adapter.upTo("as-coded-0.10.1")
	for _, stop := range b.stops[broker] {
		if stop.withDelete || before {
			sent = append(sent, stopReplica(stop.withDelete, stop.partition))
			answers = append(answers, stop.answer)
		} else {
			grouped = append(grouped, stop.partition)
		}
	}
	if len(b.stops[broker]) > 0 && !before {
		slices.Sort(grouped)
		sent = slices.Insert(sent, 0, stopReplica(false, slices.Compact(grouped)...))
		answers = slices.Insert(answers, 0, false)
	}
	return sent, answers
}

// stopReplica is a request to stop replicas of some partitions.
func stopReplica(withDelete bool, partitions ...string) object {
	return object{"name": "StopReplica", "delete": withDelete, "partitions": partitions}
}

// ---- send_batch ----

// known is a partition that the controller knows.
type known struct {
	Assigned   brokers
	Leadership *leadership
}

// addition is one that is made to a batch. Which of the fields are there depends on the kind.
type addition struct {
	Kind       string
	Brokers    brokers // none at all, unlike an empty list: all that are registered
	Partition  string
	Partitions []string // none at all: all that have leadership
	Delete     bool
}

// sendBatch makes all additions, and says what each broker is sent then.
func (a *adapter) sendBatch(given struct {
	knowledge
	Partitions map[string]known
	Adds       []addition
}) (object, error) {
	c := given.controller(a, given.Partitions)
	for _, add := range given.Adds {
		if err := c.batch.add(add); err != nil {
			return nil, err
		}
	}
	requests := []object{}
	for _, broker := range c.registered {
		stops, _ := c.batch.stopsFor(broker)
		sent := slices.Concat(c.batch.leaderAndIsrFor(broker), c.batch.metadataFor(broker), stops)
		if len(sent) > 0 {
			requests = append(requests, object{"to": broker, "sent": sent})
		}
	}
	return object{"requests": requests}, nil
}

// add makes one addition.
func (b *batch) add(add addition) error {
	switch add.Kind {
	case "LeaderAndIsr":
		leads, led := b.controller.leaderships[add.Partition]
		if !led {
			return fmt.Errorf("%s has no leadership to be told of", add.Partition)
		}
		return b.addLeaderAndIsr(add.Brokers, add.Partition, leads, b.controller.assigned[add.Partition])
	case "UpdateMetadata":
		to := add.Brokers
		if to == nil {
			to = b.controller.registered
		}
		return b.addMetadata(to, add.Partitions)
	case "StopReplica":
		for _, broker := range add.Brokers {
			b.addStop(broker, add.Partition, add.Delete, false)
		}
		return nil
	}
	return fmt.Errorf("unknown kind %q", add.Kind)
}
