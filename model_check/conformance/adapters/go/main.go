// Command adapter answers the vectors of kcheck (protocol 1) with an independent Go implementation of what they ask.
//
// It reads one JSON object a line from standard input and writes one JSON object a line to standard output, as
// FORMAT.md describes. Each verb has its own section, below or in another file; every rule is implemented, no answer is
// looked up.
//
//	adapter [--dialect as-coded-0.10.2] [--definitions DIR]
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// dialects are all that FORMAT.md names.
var dialects = []string{
	"documented", "as-coded-0.8.2", "as-coded-0.9.0", "as-coded-0.10.0", "as-coded-0.10.1", "as-coded-0.10.2",
}

func main() {
	dialect := flag.String("dialect", "as-coded-0.10.2", "what to behave as: "+strings.Join(dialects, ", "))
	definitions := flag.String("definitions", "../..", "folder with requests.json and znodes.json")
	flag.Parse()
	if err := run(*dialect, *definitions, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "adapter:", err)
		os.Exit(1)
	}
}

// run makes an adapter and lets it answer until the input ends or says bye.
func run(dialect, definitions string, in io.Reader, out io.Writer) error {
	if !slices.Contains(dialects, dialect) {
		return fmt.Errorf("unknown dialect %q; one of: %s", dialect, strings.Join(dialects, ", "))
	}
	a := &adapter{dialect: dialect}
	for name, into := range map[string]any{"requests.json": &a.codec, "znodes.json": &a.schemas} {
		text, err := os.ReadFile(filepath.Join(definitions, name))
		if err == nil {
			err = json.Unmarshal(text, into)
		}
		if err != nil {
			return fmt.Errorf("definitions: %w", err)
		}
	}
	a.verbs = map[string]func(json.RawMessage) (object, error){
		"transition": verb(transition), "elect": verb(a.elect), "fence": verb(fence),
		"read_znode": verb(a.readZnode), "encode_request": verb(a.encodeRequest), "decode_request": verb(a.decodeRequest),
		"create_partition": verb(createPartition), "remove_replica": verb(removeReplica), "reassign": verb(a.reassign),
		"find_imbalance": verb(findImbalance), "write_state": verb(a.writeState), "send_batch": verb(a.sendBatch),
		"handle_state_changes": verb(a.handleStateChanges), "shut_down": verb(a.shutDown), "fail_broker": verb(a.failBroker),
		"handle_isr_changes": verb(a.handleIsrChanges), "change_isr": verb(a.changeIsr), "delay": verb(delay),
		"encode_response": verb(a.encodeResponse), "decode_response": verb(a.decodeResponse),
		"read_line": verb(a.readLine), "write_line": verb(a.writeLine),
	}
	return a.serve(in, out)
}

// ---- The conversation ----

// object is a JSON object.
type object = map[string]any

// errRefused says that the data cannot be used, which is an outcome and not a failure.
var errRefused = errors.New("refused")

// adapter answers what it is asked.
type adapter struct {
	dialect string
	codec   struct {
		Header   field
		Requests []request
	}
	schemas struct{ Znodes []znode }
	verbs   map[string]func(given json.RawMessage) (object, error)
}

// serve answers each line. An Encoder writes each answer at once.
func (a *adapter) serve(in io.Reader, out io.Writer) error {
	lines, answers := bufio.NewScanner(in), json.NewEncoder(out)
	lines.Buffer(nil, 64<<10) // a question has less
	for lines.Scan() {
		answer := a.answer(lines, answers)
		if answer == nil {
			return nil
		} else if len(answer) == 0 {
			continue
		}
		if err := answers.Encode(answer); err != nil {
			return err
		}
	}
	return lines.Err()
}

// answer is the answer to one line, or nil if the line is the last one. It is empty after a conversation, which control
// leads by itself.
func (a *adapter) answer(lines *bufio.Scanner, out *json.Encoder) object {
	var question struct {
		Verb  string
		ID    string
		Given json.RawMessage
	}
	if err := json.Unmarshal(lines.Bytes(), &question); err != nil {
		return object{"error": "not a question: " + err.Error()}
	}
	ask, known := a.verbs[question.Verb]
	switch {
	case question.Verb == "bye":
		return nil
	case question.Verb == "hello":
		verbs := append(slices.Sorted(maps.Keys(a.verbs)), "control")
		return object{
			"protocol": 1, "name": "example", "language": "Go", "dialect": a.dialect, "verbs": verbs, "without": []string{"log"},
			"resets": true,
		}
	case question.Verb == "reset": // nothing is kept from one question to the next
		return object{"id": question.ID, "outcome": object{}}
	case question.Verb == "control":
		given := slices.Clone(question.Given) // the conversation reads on
		err := a.control(question.ID, given, lines, out)
		if why := skip(""); errors.As(err, &why) {
			return object{"id": question.ID, "skip": string(why)}
		} else if err != nil {
			return object{"id": question.ID, "error": err.Error()}
		}
		return object{}
	case !known:
		return object{"id": question.ID, "skip": fmt.Sprintf("unknown verb %q", question.Verb)}
	}
	outcome, err := ask(question.Given)
	if errors.Is(err, errRefused) {
		outcome = object{"refused": true}
	} else if err != nil {
		return object{"id": question.ID, "error": err.Error()}
	}
	return object{"id": question.ID, "outcome": outcome}
}

// verb makes of a function of a struct one of the JSON of it. A number of any type stays a json.Number.
func verb[T any](ask func(T) (object, error)) func(json.RawMessage) (object, error) {
	return func(raw json.RawMessage) (object, error) {
		var given T
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.UseNumber()
		if err := decoder.Decode(&given); err != nil {
			return nil, fmt.Errorf("not what the verb is given: %w", err)
		}
		return ask(given)
	}
}

// ---- transition ----

// predecessors has, for each machine and each target state, the states from which it may be entered.
var predecessors = map[string]map[string][]string{
	"partition": {
		"NonExistentPartition": {"OfflinePartition"},
		"NewPartition":         {"NonExistentPartition"},
		"OnlinePartition":      {"NewPartition", "OnlinePartition", "OfflinePartition"},
		"OfflinePartition":     {"NewPartition", "OnlinePartition", "OfflinePartition"},
	},
	"replica": {
		"NonExistentReplica":        {"ReplicaDeletionSuccessful"},
		"NewReplica":                {"NonExistentReplica"},
		"OnlineReplica":             {"NewReplica", "OnlineReplica", "OfflineReplica", "ReplicaDeletionIneligible"},
		"OfflineReplica":            {"NewReplica", "OnlineReplica", "OfflineReplica", "ReplicaDeletionIneligible"},
		"ReplicaDeletionStarted":    {"OfflineReplica"},
		"ReplicaDeletionSuccessful": {"ReplicaDeletionStarted"},
		"ReplicaDeletionIneligible": {"ReplicaDeletionStarted"},
	},
}

// transition says whether a state may follow another.
func transition(given struct{ Machine, From, To string }) (object, error) {
	table := predecessors[given.Machine]
	if table[given.From] == nil || table[given.To] == nil {
		return nil, fmt.Errorf("no states %q and %q of a machine %q", given.From, given.To, given.Machine)
	}
	return object{"permitted": slices.Contains(table[given.To], given.From)}, nil
}

// ---- elect ----

// brokers is a list of broker ids; its order counts where the field that holds it says so.
type brokers []int

// has says whether an id is there.
func (b brokers) has(id int) bool { return slices.Contains(b, id) }

// in keeps the ids that are in other too, in their order.
func (b brokers) in(other brokers) brokers {
	return slices.DeleteFunc(slices.Clone(b), func(id int) bool { return !other.has(id) })
}

// set is the ids in ascending order, each once; no ids are an empty list and not null.
func (b brokers) set() brokers {
	sorted := append(brokers{}, b...)
	slices.Sort(sorted)
	return slices.Compact(sorted)
}

// election is what a selector is given. Which of the fields are there depends on the selector.
type election struct {
	Selector     string
	Assigned     brokers // AR, in order of preference
	Reassigned   brokers // RAR, in order of preference
	Isr          brokers // in ZooKeeper's order
	Live         brokers // registered and not shutting down
	Registered   brokers
	ShuttingDown brokers `json:"shutting_down"`
	Unclean      bool
	CachedLeader int `json:"cached_leader"`
}

// elected is whom a selector elects, with the ISR in its order; or why nobody is, which is an outcome, too.
type elected struct {
	leader         int
	isr, receivers brokers
	refused        string
}

// elect asks one of the four leader selectors.
func (a *adapter) elect(e election) (object, error) {
	chosen, err := a.choose(e)
	if err != nil || chosen.refused != "" {
		return object{"refused": chosen.refused}, err
	}
	receivers := chosen.receivers.set()
	return object{"elected": object{"leader": chosen.leader, "isr": chosen.isr.set(), "receivers": receivers}}, nil
}

// choose elects by one of the four leader selectors.
func (a *adapter) choose(e election) (elected, error) {
	switch e.Selector {
	case "offline":
		// The first live assigned replica that is in sync. If none of the ISR is alive and unclean elections are
		// allowed, the first live assigned replica, which is then the whole ISR.
		liveAssigned, liveIsr := e.Assigned.in(e.Live), e.Isr.in(e.Live)
		if len(liveIsr) == 0 && e.Unclean {
			return firstOf(liveAssigned, liveAssigned[:min(1, len(liveAssigned))], liveAssigned), nil
		}
		return firstOf(liveAssigned.in(liveIsr), liveIsr, liveAssigned), nil
	case "reassigned":
		// The first of the new replicas that is alive and in sync. The ISR stays, and all new replicas are told.
		return firstOf(e.Reassigned.in(e.Live).in(e.Isr), e.Isr, e.Reassigned), nil
	case "preferred":
		// The first assigned replica, if it is alive and in sync, and does not lead already.
		preferred := e.Assigned[:min(1, len(e.Assigned))]
		if preferred.has(e.CachedLeader) {
			return elected{refused: "not needed"}, nil
		}
		return firstOf(preferred.in(e.Live).in(e.Isr), e.Isr, e.Assigned), nil
	case "controlled-shutdown":
		// Those that shut down leave the ISR. Of those that remain there the first assigned and registered one is
		// elected. Up to 0.9.0 it was the first that remains, whether it is registered or not.
		registeredAssigned := e.Assigned.in(e.Registered)
		isr := slices.DeleteFunc(slices.Clone(e.Isr), e.ShuttingDown.has)
		if a.dialect == "as-coded-0.8.2" || a.dialect == "as-coded-0.9.0" {
			return firstOf(isr, isr, registeredAssigned), nil
		}
		return firstOf(registeredAssigned.in(isr), isr, registeredAssigned), nil
	}
	return elected{}, fmt.Errorf("unknown selector %q", e.Selector)
}

// firstOf is an election that the first of the candidates wins, if there is one.
func firstOf(candidates, isr, receivers brokers) elected {
	if len(candidates) == 0 {
		return elected{refused: "impossible"}
	}
	return elected{leader: candidates[0], isr: isr, receivers: receivers}
}

// ---- fence ----

// epochs are those that a broker knows: of the controller, of the partition's leader, and of the latter as its metadata
// cache has it.
type epochs struct {
	Controller   int `json:"controller_epoch"`
	Leader       int `json:"leader_epoch"`
	CachedLeader int `json:"cached_leader_epoch"`
}

// arrival is a request as it comes to a broker, as much of it as the fences look at.
type arrival struct {
	Knows   epochs
	Request struct {
		Name string
		Body struct {
			ControllerEpoch  int
			DeletePartitions bool
			PartitionStates  []struct{ Leader, LeaderEpoch int }
		}
	}
}

// fence says whether a broker disregards a request, or what it says of the partition, and what it knows then.
func fence(given arrival) (object, error) {
	knows, body := given.Knows, given.Request.Body
	if body.ControllerEpoch < knows.Controller {
		return object{"fenced": true, "knows": knows}, nil
	}
	knows.Controller = body.ControllerEpoch
	switch given.Request.Name {
	case "LeaderAndIsr":
		told := body.PartitionStates[0]
		if told.LeaderEpoch <= knows.Leader {
			return object{"fenced": true, "knows": knows}, nil
		}
		knows.Leader = told.LeaderEpoch
	case "StopReplica":
		if body.DeletePartitions {
			knows.Leader = -1
		}
	case "UpdateMetadata":
		told := body.PartitionStates[0]
		knows.CachedLeader = told.LeaderEpoch
		if told.Leader == -2 {
			knows.CachedLeader = -1
		}
	}
	return object{"fenced": false, "knows": knows}, nil
}
