package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// This file has the verb control: the conversation of a controller that runs with who plays ZooKeeper and the brokers.

// settings are Kafka's, as far as a controller looks at them.
type settings struct {
	AutoRebalance    bool `json:"auto.leader.rebalance.enable"`
	DeleteTopics     bool `json:"delete.topic.enable"`
	Unclean          bool `json:"unclean.leader.election.enable"`
	ImbalancePercent int  `json:"leader.imbalance.per.broker.percentage"`
}

// defaults are those of 0.10.2.
var defaults = settings{AutoRebalance: true, Unclean: true, ImbalancePercent: 10}

// ---- What is said and heard ----

// zkOperation is one that ZooKeeper is asked for.
type zkOperation struct {
	Op        string  `json:"op"`
	Path      string  `json:"path"`
	Data      *string `json:"data,omitempty"`
	Ephemeral bool    `json:"ephemeral,omitempty"`
	Version   *int    `json:"version,omitempty"`
	Watch     bool    `json:"watch,omitempty"`
}

// result is what came of an operation, or the number of a request. Which of the fields are there depends on that.
type result struct {
	Data     *string
	Version  int
	Own      bool
	Children []string
	Number   int
}

// answered is the answer of a broker to a StopReplica with delete.
type answered struct {
	From, Number, Error int
	Partitions          map[string]int
}

// event is what a controller hears as it waits. One of the first five is there.
type event struct {
	Watch, Session string
	Answer         *answered
	Shutdown       *int
	Rebalance      bool
	Type           string // of the watch
}

// heard is a line that is answered.
type heard struct {
	Result  *result
	Refused string
	Event   *event
	End     bool
}

// conversation says a line, and is answered by one.
type conversation struct {
	id    string
	lines *bufio.Scanner
	out   *json.Encoder
}

// over ends a conversation from within whatever is being done. An error is why it ends before its end.
type over struct{ err error }

// skip is such an error: what this controller does not do.
type skip string

func (s skip) Error() string { return string(s) }

// say says a line and gives the answer. There is none after the end.
func (t *conversation) say(line object) heard {
	var answer heard
	line["id"] = t.id
	err := t.out.Encode(line)
	if err == nil && !t.lines.Scan() {
		err = errors.Join(t.lines.Err(), errors.New("no answer"))
	}
	if err == nil {
		err = json.Unmarshal(t.lines.Bytes(), &answer)
	}
	if err != nil || answer.End {
		panic(over{err})
	}
	return answer
}

// ask asks ZooKeeper for one operation.
func (t *conversation) ask(op zkOperation) (*result, error) {
	answer := t.say(object{"ask": op})
	if answer.Refused == "" {
		return answer.Result, nil
	} else if known, there := zookeeperErrors[answer.Refused]; there {
		return nil, known
	}
	return nil, errors.New(answer.Refused)
}

// send sends a request, and gives its number.
func (t *conversation) send(to int, request object) int {
	answer := t.say(object{"send": object{"to": to, "request": request}})
	if answer.Result == nil {
		panic(over{errors.New("a request has no number")})
	}
	return answer.Result.Number
}

// ---- The verb ----

// control has a controller run until the conversation ends.
func (a *adapter) control(id string, given json.RawMessage, lines *bufio.Scanner, out *json.Encoder) (err error) {
	defer func() {
		if raised := recover(); raised != nil {
			ended, is := raised.(over)
			if !is {
				panic(raised)
			}
			err = ended.err
		}
	}()
	question := struct {
		Broker   int
		Settings settings
	}{Settings: defaults}
	if err := json.Unmarshal(given, &question); err != nil {
		return fmt.Errorf("not what the verb is given: %w", err)
	}
	k := a.newKafkaController(question.Broker, question.Settings, &conversation{id, lines, out})
	k.startUp()
	for {
		k.runDeletionThread()
		k.handle(k.talk.say(object{"wait": true}).Event)
	}
}

// handle does what an event has a controller do.
func (k *kafkaController) handle(e *event) {
	switch {
	case e == nil:
		panic(over{errors.New("no event")})
	case e.Watch != "":
		for _, call := range k.zk.concerned(e.Watch, e.Type) {
			k.zk.notify(call)
		}
	case e.Session == "expired":
		k.toBeCalled = k.zk.everybody()
		_ = k.onNewSession() // what it raises is logged
	case e.Session == "goes on":
		for _, call := range k.toBeCalled {
			k.zk.notify(call)
		}
		k.toBeCalled = nil
	case e.Answer != nil:
		if broker, waits := k.awaited[e.Answer.Number]; waits && broker == e.Answer.From {
			delete(k.awaited, e.Answer.Number)
			k.onStopReplicaAnswer(*e.Answer)
		}
	case e.Shutdown != nil:
		code, remaining := k.onControlledShutdown(*e.Shutdown)
		k.talk.say(object{"reply": object{"error": code, "remaining": remaining}})
	case e.Rebalance:
		_ = k.rebalance()
	}
}

// deliver sends a batch: LeaderAndIsr, then UpdateMetadata, then StopReplica, each to all brokers with a channel.
func (k *kafkaController) deliver(b *batch) error {
	if len(b.leaderAndIsr)+len(b.metadata)+len(b.stops) == 0 {
		return nil
	} else if k.channelTo == nil {
		return errors.New("there are no channels")
	}
	to := slices.Sorted(maps.Keys(k.channelTo))
	for _, broker := range to {
		k.sendAll(broker, b.leaderAndIsrFor(broker), nil)
	}
	for _, broker := range to {
		k.sendAll(broker, b.metadataFor(broker), nil)
	}
	for _, broker := range to {
		stops, answers := b.stopsFor(broker)
		k.sendAll(broker, stops, answers)
	}
	return nil
}

// sendAll sends a broker some requests, and remembers of which the answer is waited for.
func (k *kafkaController) sendAll(to int, requests []object, answers []bool) {
	for i, request := range requests {
		request["controller_epoch"] = k.epoch
		number := k.talk.send(to, request)
		if answers != nil && answers[i] {
			k.awaited[number] = to
		}
	}
}
