package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// This file has the verbs that ask single functions of the controller: what it writes to a state znode, what one run of
// a reassignment does, for whom it elects of its own accord, and what it sends of a batch.

// state is what a state znode holds of a partition.
type state struct {
	Leader          int     `json:"leader"` // -1: nobody
	LeaderEpoch     int     `json:"leader_epoch"`
	Isr             brokers `json:"isr"` // its order counts
	ControllerEpoch int     `json:"controller_epoch"`
}

// without keeps the ids that are not in other, in their order.
func (b brokers) without(other brokers) brokers {
	return slices.DeleteFunc(slices.Clone(b), other.has)
}

// upTo says whether a dialect is that of a release line, and of one that is no later than another's.
func (a *adapter) upTo(last string) bool {
	return a.dialect != "documented" && slices.Index(dialects, a.dialect) <= slices.Index(dialects, last)
}

// ---- create_partition ----

// createPartition lets the first live replica lead a new partition, with all live ones in sync.
func createPartition(given struct {
	Assigned, Live  brokers
	ControllerEpoch int `json:"controller_epoch"`
}) (object, error) {
	isr := given.Assigned.in(given.Live)
	if len(isr) == 0 {
		return nil, errRefused
	}
	created := state{Leader: isr[0], Isr: isr, ControllerEpoch: given.ControllerEpoch}
	return object{"created": created, "receivers": isr.set()}, nil
}

// ---- remove_replica ----

// removal is what remove_replica is given.
type removal struct {
	Replica         int
	Assigned        brokers
	State           *state
	ControllerEpoch int `json:"controller_epoch"`
	Unclean         bool
}

// removeReplica takes a replica that goes offline out of the ISR. The others hear of it even if it was not there.
func removeReplica(r removal) (object, error) {
	if r.State == nil || r.State.ControllerEpoch > r.ControllerEpoch {
		return nil, errRefused // a later controller has been there, or nobody yet
	}
	after, changed := r.State.without(r.Replica, r.Unclean)
	after.ControllerEpoch = r.ControllerEpoch
	outcome := object{"written": nil, "cached": after, "receivers": r.Assigned.without(brokers{r.Replica}).set()}
	if changed {
		outcome["written"] = after
	}
	return outcome, nil
}

// without is the state once a replica is offline, and whether that is another state. The last of the ISR stays in it,
// though it does not lead any longer, unless a replica may be elected that is not in the ISR.
func (s state) without(replica int, unclean bool) (after state, changed bool) {
	if !s.Isr.has(replica) {
		return s, false
	}
	s.LeaderEpoch++
	if s.Leader == replica {
		s.Leader = -1
	}
	if rest := s.Isr.without(brokers{replica}); len(rest) > 0 || unclean {
		s.Isr = rest
	}
	return s, true
}

// ---- reassign ----

// reassignment is what reassign is given; its state has no controller epoch.
type reassignment struct {
	Assigned   brokers // AR
	Reassigned brokers // RAR
	Live       brokers
	state
}

// reassign makes one run of a reassignment: it waits for the new replicas to be in sync, or it finishes.
func (a *adapter) reassign(r reassignment) (object, error) {
	dead := r.Reassigned.without(r.Live)
	if slices.Equal(r.Reassigned, r.Assigned) || len(dead) > 0 && a.upTo("as-coded-0.10.0") {
		return nil, errRefused
	}
	now, leaving := r.state, r.Assigned.without(r.Reassigned)
	if len(r.Reassigned.without(r.Isr)) > 0 {
		// All replicas, old and new, are told of a new leader epoch. One that leads cannot start as a follower.
		now.LeaderEpoch++
		started := r.Reassigned.without(r.Assigned).without(brokers{r.Leader})
		return now.reassigned(true, slices.Concat(r.Reassigned, leaving), started, nil), nil
	}
	if live := r.Reassigned.in(r.Live); len(live) > 0 { // all of RAR are in sync here, as the selector wants them
		now.LeaderEpoch++ // one that stays is told of the new replicas
		if !live.has(r.Leader) {
			now.Leader = live[0]
		}
	}
	for _, replica := range leaving {
		now, _ = now.without(replica, true) // only a RAR of nobody could leave the ISR empty
	}
	return now.reassigned(false, r.Reassigned, nil, leaving), nil
}

// reassigned is the outcome of a run that has come to this state.
func (s state) reassigned(waits bool, assigned, started, deleted brokers) object {
	return object{
		"waits": waits, "assigned": assigned, "leader": s.Leader, "leader_epoch": s.LeaderEpoch, "isr": s.Isr,
		"started": started.set(), "deleted": deleted.set(),
	}
}

// ---- find_imbalance ----

// balance is what find_imbalance is given.
type balance struct {
	Partitions map[string]struct {
		Assigned brokers
		Leader   *int // none if there is no leadership, which differs from a leadership of nobody
	}
	Live                            brokers
	Percentage                      int
	Deleting, Reassigning, Electing []string
}

// topicOf is the topic of a partition by name. A topic may have a hyphen in its own name.
func topicOf(partition string) string {
	return partition[:max(0, strings.LastIndex(partition, "-"))]
}

// findImbalance finds the brokers that lead too few of those partitions that prefer them, and names the lost ones.
func findImbalance(b balance) (object, error) {
	groups, lost := map[int]int{}, map[int][]string{} // by the first replica: how many in all, and which it lost
	for name, partition := range b.Partitions {
		if slices.Contains(b.Deleting, topicOf(name)) {
			continue
		} else if len(partition.Assigned) == 0 {
			return nil, fmt.Errorf("%s has no replica", name)
		}
		first := partition.Assigned[0]
		groups[first]++
		if partition.Leader != nil && *partition.Leader != first {
			lost[first] = append(lost[first], name)
		}
	}
	elect := []string{}
	for first, names := range lost {
		// In whole numbers, since a share that just reaches the percentage is no imbalance.
		if 100*len(names) > b.Percentage*groups[first] && b.Live.has(first) {
			elect = append(elect, names...)
		}
	}
	if len(b.Reassigning)+len(b.Electing) > 0 { // of any partition whatever
		elect = []string{}
	}
	slices.Sort(elect)
	return object{"elect": elect}, nil
}

// ---- write_state ----

// conditionalWrite is what write_state is given.
type conditionalWrite struct {
	Znode           *stateZnode
	ExpectedVersion int `json:"expected_version"` // -1: any
	State           state
}

// writeState writes on a condition. A write that fails counts as done if what stands there says the same: it may have
// been done by an earlier try, whose answer was lost.
func (a *adapter) writeState(w conditionalWrite) (object, error) {
	if w.Znode == nil {
		return object{"written": false, "version": -1}, nil
	} else if w.ExpectedVersion == -1 || w.ExpectedVersion == w.Znode.Version {
		return object{"written": true, "version": w.Znode.Version + 1}, nil
	}
	stands, err := a.readState(w.Znode.Data)
	if err != nil || !stands.equal(w.State) {
		return object{"written": false, "version": -1}, nil
	}
	return object{"written": true, "version": w.Znode.Version}, nil
}

// equal says whether two states are the same, the order of the ISR included.
func (s state) equal(other state) bool {
	return s.Leader == other.Leader && s.LeaderEpoch == other.LeaderEpoch && slices.Equal(s.Isr, other.Isr) &&
		s.ControllerEpoch == other.ControllerEpoch
}

// ---- send_batch ----

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

// addition is one that is made to a batch. Which of the fields are there depends on the kind.
type addition struct {
	Kind       string
	Brokers    brokers // none at all, unlike an empty list: all that are registered
	Partition  string
	Partitions []string // none at all, unlike an empty list: all that have leadership
	Delete     bool
}

// known is a partition that the controller knows.
type known struct {
	Assigned   brokers
	Leadership *leadership
}

// context is what the controller knows when it makes a batch.
type context struct {
	Live         brokers
	ShuttingDown brokers `json:"shutting_down"`
	Partitions   map[string]known
	Deleting     []string
	Adds         []addition
}

// batch is what was added, by broker. Brokers that are not registered may be there too; they are sent nothing.
type batch struct {
	context
	leaderAndIsr map[int]map[string]told
	metadata     map[int]map[string]told // a broker may be there for whom no partition was added
	everybody    map[string]told         // the partitions of metadata, whoever it was they were added for
	stops        map[int][]addition
}

// sendBatch makes all additions, and says what each broker is sent then.
func (a *adapter) sendBatch(given context) (object, error) {
	b := &batch{
		context: given, leaderAndIsr: map[int]map[string]told{}, metadata: map[int]map[string]told{},
		everybody: map[string]told{}, stops: map[int][]addition{},
	}
	for _, add := range given.Adds {
		if err := a.add(b, add); err != nil {
			return nil, err
		}
	}
	requests := []object{}
	for _, broker := range b.registered() {
		sent := slices.Concat(b.sendLeaderAndIsr(broker), a.sendMetadata(b, broker), a.sendStops(b, broker))
		if len(sent) > 0 {
			requests = append(requests, object{"to": broker, "sent": sent})
		}
	}
	return object{"requests": requests}, nil
}

// add makes one addition. Nobody is below 0 and registered, so there is no need to leave such brokers out here.
func (a *adapter) add(b *batch, add addition) error {
	switch add.Kind {
	case "LeaderAndIsr":
		info, led := b.tell(add.Partition)
		if !led {
			return fmt.Errorf("%s has no leadership to be told of", add.Partition)
		}
		for _, broker := range add.Brokers {
			put(b.leaderAndIsr, broker, map[string]told{add.Partition: info})
		}
		a.addMetadata(b, b.registered(), []string{add.Partition})
	case "UpdateMetadata":
		to := add.Brokers
		if to == nil {
			to = b.registered()
		}
		a.addMetadata(b, to, add.Partitions)
	case "StopReplica":
		for _, broker := range add.Brokers {
			b.stops[broker] = append(b.stops[broker], add)
		}
	default:
		return fmt.Errorf("unknown kind %q", add.Kind)
	}
	return nil
}

// addMetadata adds partitions, and those that are being deleted beside them, for some brokers.
func (a *adapter) addMetadata(b *batch, to brokers, asked []string) {
	all := slices.Collect(maps.Keys(b.Partitions))
	asksForSome := asked != nil
	if !asksForSome {
		asked = all
	}
	asked = slices.DeleteFunc(slices.Clone(asked), b.isDeleting)
	added := map[string]told{}
	for _, name := range asked {
		if info, led := b.tell(name); led {
			added[name] = info
		}
	}
	for _, name := range all {
		if info, led := b.tell(name); led && b.isDeleting(name) {
			info.Leader, info.LeaderEpoch, info.ZkVersion = -2, 0, 0
			added[name] = info
		}
	}
	if asksForSome && len(asked) > 0 && len(added) == 0 && a.upTo("as-coded-0.10.1") {
		return // a broker was added only with its first partition, unless all that were asked for are being deleted
	}
	maps.Copy(b.everybody, added)
	for _, broker := range to {
		put(b.metadata, broker, added)
	}
}

// put adds partitions to those of a broker, and the broker even if there are none.
func put(to map[int]map[string]told, broker int, added map[string]told) {
	if to[broker] == nil {
		to[broker] = map[string]told{}
	}
	maps.Copy(to[broker], added)
}

// tell is what is to be told of a partition, if it has leadership.
func (c *context) tell(name string) (info told, led bool) {
	partition := c.Partitions[name]
	if partition.Leadership == nil {
		return told{}, false
	}
	return told{*partition.Leadership, partition.Assigned.set()}, true
}

// isDeleting says whether the topic of a partition is being deleted.
func (c *context) isDeleting(name string) bool { return slices.Contains(c.Deleting, topicOf(name)) }

// registered is who has a channel, whether shutting down or not.
func (c *context) registered() brokers { return slices.Concat(c.Live, c.ShuttingDown).set() }

// sendLeaderAndIsr makes of all that was added for a broker one request.
func (b *batch) sendLeaderAndIsr(broker int) []object {
	partitions := b.leaderAndIsr[broker]
	if partitions == nil {
		return nil
	}
	var leaders brokers
	for _, info := range partitions {
		leaders = append(leaders, info.Leader)
	}
	live := leaders.in(b.registered()).set()
	return []object{{"name": "LeaderAndIsr", "partitions": listed(partitions), "live_leaders": live}}
}

// named is what is told of a partition, with its name.
type named struct {
	Partition string `json:"partition"`
	told
}

// listed has partitions as a request has them, by name.
func listed(partitions map[string]told) []named {
	list := []named{}
	for _, name := range slices.Sorted(maps.Keys(partitions)) {
		list = append(list, named{name, partitions[name]})
	}
	return list
}

// sendMetadata makes one request, of the same partitions for everybody from 0.10.2 on.
func (a *adapter) sendMetadata(b *batch, broker int) []object {
	partitions, toldToo := b.metadata[broker]
	if !toldToo || len(partitions) == 0 && a.upTo("as-coded-0.8.2") {
		return nil
	}
	if !a.upTo("as-coded-0.10.1") {
		partitions = b.everybody
	}
	return []object{{"name": "UpdateMetadata", "partitions": listed(partitions), "live_brokers": b.registered()}}
}

// sendStops makes one request for each replica. From 0.10.2 on those that are not to be deleted are in one, which goes
// first, and goes even if there are none.
func (a *adapter) sendStops(b *batch, broker int) (sent []object) {
	grouped := []string{}
	for _, stop := range b.stops[broker] {
		if stop.Delete || a.upTo("as-coded-0.10.1") {
			sent = append(sent, stopReplica(stop.Delete, stop.Partition))
		} else {
			grouped = append(grouped, stop.Partition)
		}
	}
	if len(b.stops[broker]) > 0 && !a.upTo("as-coded-0.10.1") {
		slices.Sort(grouped)
		sent = slices.Insert(sent, 0, stopReplica(false, slices.Compact(grouped)...))
	}
	return sent
}

// stopReplica is a request to stop replicas of some partitions.
func stopReplica(withDelete bool, partitions ...string) object {
	return object{"name": "StopReplica", "delete": withDelete, "partitions": partitions}
}
