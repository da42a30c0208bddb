package main

import (
	"fmt"
	"maps"
	"slices"
)

// This file has the purgatory, in which operations wait until their condition holds or their time is over.

// operation is one that waits, or has waited.
type operation struct {
	holds    bool
	deadline int
	fate     string // pending, completed or expired
}

// pending says whether a timer is armed for it.
func (o *operation) pending() bool { return o.fate == "pending" }

// complete completes it, if it waits still.
func (o *operation) complete() bool {
	if !o.pending() {
		return false
	}
	o.fate = "completed"
	return true
}

// purgatory has all operations by name, and lists of those that are watched by key. An operation leaves a list later
// than it is completed: when somebody walks the list, or at a purge.
type purgatory struct {
	now, interval int
	operations    map[string]*operation
	lists         map[string][]*operation
	estimated     int // operations watched since the last purge, and delayed at it
}

// step is what is done next. Which of the fields are there depends on what it is.
type step struct {
	Do, Operation, Key string
	Keys               []string
	Timeout, By        int
	Holds              bool
}

// delay does all steps.
func delay(given struct {
	PurgeInterval int `json:"purge_interval"`
	Steps         []step
}) (object, error) {
	p := &purgatory{
		interval: given.PurgeInterval, operations: map[string]*operation{}, lists: map[string][]*operation{},
	}
	results := []any{}
	for _, next := range given.Steps {
		result, err := p.do(next)
		if err != nil {
			return nil, err
		}
		results = append(results, result)
	}
	fates, watched := map[string]string{}, 0
	for name, o := range p.operations {
		fates[name] = o.fate
	}
	for _, list := range p.lists {
		watched += len(list)
	}
	return object{"results": results, "operations": fates, "watched": watched, "delayed": p.delayed()}, nil
}

// do does one step, and says what comes of it.
func (p *purgatory) do(s step) (any, error) {
	o := p.operations[s.Operation]
	if o == nil && (s.Do == "set" || s.Do == "complete") {
		return nil, fmt.Errorf("unknown operation %q", s.Operation)
	}
	switch s.Do {
	case "watch":
		return p.watch(s), nil
	case "set":
		o.holds = s.Holds
		return nil, nil
	case "check":
		return p.check(s.Key), nil
	case "complete":
		return o.complete(), nil
	case "advance":
		return p.advance(s.By), nil
	}
	return nil, fmt.Errorf("unknown step %q", s.Do)
}

// watch completes a new operation at once, or puts it on the list of each of its keys and arms its timer.
func (p *purgatory) watch(s step) (completed bool) {
	o := &operation{holds: s.Holds, deadline: p.now + s.Timeout, fate: "pending"}
	p.operations[s.Operation] = o
	if o.holds {
		return o.complete()
	}
	for _, key := range s.Keys {
		p.lists[key] = append(p.lists[key], o)
	}
	p.estimated++
	return false
}

// check completes what can be completed on the list of a key, and says how many that are.
func (p *purgatory) check(key string) (completed int) {
	for _, o := range p.lists[key] {
		if o.holds && o.complete() {
			completed++
		}
	}
	p.purge(key)
	return completed
}

// purge leaves those on the list of a key that wait still.
func (p *purgatory) purge(key string) {
	p.lists[key] = slices.DeleteFunc(p.lists[key], func(o *operation) bool { return !o.pending() })
}

// advance lets time go on, and then the reaper come: it expires whose time has come, and purges if too many of those on
// the lists do not wait any longer, by its guess.
func (p *purgatory) advance(by int) (expired []string) {
	p.now += by
	expired = []string{}
	for name, o := range p.operations {
		if o.pending() && o.deadline <= p.now {
			o.fate = "expired"
			expired = append(expired, name)
		}
	}
	if delayed := p.delayed(); p.estimated-delayed > p.interval {
		p.estimated = delayed
		for key := range p.lists {
			p.purge(key)
		}
	}
	slices.Sort(expired)
	return expired
}

// delayed is how many timers are armed.
func (p *purgatory) delayed() (armed int) {
	for o := range maps.Values(p.operations) {
		if o.pending() {
			armed++
		}
	}
	return armed
}
