package main

import (
	"fmt"
	"slices"
	"strings"
)

// This file has the verbs that ask single functions of the controller: what it writes to a state znode, what one run of
// a reassignment does, and for whom it elects of its own accord.

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

// distinct is the ids in their order, each once.
func (b brokers) distinct() (once brokers) {
	for _, id := range b {
		if !once.has(id) {
			once = append(once, id)
		}
	}
	return once
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

// balanced is a partition as the check of the balance looks at it.
type balanced struct {
	Assigned brokers
	Leader   *int // none if there is no leadership, which differs from a leadership of nobody
}

// balance is what find_imbalance is given.
type balance struct {
	Partitions                      map[string]balanced
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
	names, err := b.lost()
	return object{"elect": names}, err
}

// lost has the partitions to elect for.
func (b balance) lost() ([]string, error) {
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
	return elect, nil
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
