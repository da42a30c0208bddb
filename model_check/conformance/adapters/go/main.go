// Command adapter answers the vectors of kcheck (protocol 1) with an independent Go implementation of what they ask.
//
// It reads one JSON object a line from standard input and writes one JSON object a line to standard output, as
// FORMAT.md describes. Each verb has its own section, below or in functions.go; every rule is implemented, no answer is
// looked up.
//
//	adapter [--dialect as-coded-0.10.2] [--definitions DIR]
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
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
		answer := a.answer(lines.Bytes())
		if answer == nil {
			return nil
		}
		if err := answers.Encode(answer); err != nil {
			return err
		}
	}
	return lines.Err()
}

// answer is the answer to one line, or nil if the line is the last one.
func (a *adapter) answer(line []byte) object {
	var question struct {
		Verb  string
		ID    string
		Given json.RawMessage
	}
	if err := json.Unmarshal(line, &question); err != nil {
		return object{"error": "not a question: " + err.Error()}
	}
	ask, known := a.verbs[question.Verb]
	switch {
	case question.Verb == "bye":
		return nil
	case question.Verb == "hello":
		verbs := slices.Sorted(maps.Keys(a.verbs))
		return object{"protocol": 1, "name": "example", "language": "Go", "dialect": a.dialect, "verbs": verbs}
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

// elect asks one of the four leader selectors.
func (a *adapter) elect(e election) (object, error) {
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
			return object{"refused": "not needed"}, nil
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
	return nil, fmt.Errorf("unknown selector %q", e.Selector)
}

// firstOf is the outcome of an election that the first of the candidates wins, if there is one.
func firstOf(candidates, isr, receivers brokers) object {
	if len(candidates) == 0 {
		return object{"refused": "impossible"}
	}
	return object{"elected": object{"leader": candidates[0], "isr": isr.set(), "receivers": receivers.set()}}
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

// ---- read_znode ----

// schema is as much of a JSON Schema as znodes.json needs, read leniently; see check.
type schema struct {
	Type                 any // a name or a list of names
	Minimum              int32
	Properties           map[string]schema
	PropertyNames        *struct{} // there only where the names are numbers of partitions
	AdditionalProperties *schema
	Required             []string
	Items                *schema
	OneOf                []schema // a registration by its version; the last one has the keys of all
}

// znode is a kind of path.
type znode struct {
	Path   string
	Schema schema
}

// matches says whether a path is of this kind, element by element: a parameter such as {topic} may be any text.
func (z *znode) matches(path string) bool {
	return slices.EqualFunc(strings.Split(z.Path, "/"), strings.Split(path, "/"), func(want, got string) bool {
		prefix, _, isParameter := strings.Cut(want, "{")
		return want == got || isParameter && strings.HasPrefix(got, prefix) && got != prefix
	})
}

// readZnode reads the data of a znode by its path.
func (a *adapter) readZnode(given struct {
	Path string
	Data *string
}) (object, error) {
	i := slices.IndexFunc(a.schemas.Znodes, func(z znode) bool { return z.matches(given.Path) })
	if i < 0 {
		return nil, fmt.Errorf("no kind of znode has the path %q", given.Path)
	}
	kind := a.schemas.Znodes[i]
	if kind.Schema.Type == "null" {
		return object{"value": nil}, nil // nobody looks at what such a znode holds
	} else if given.Data == nil {
		return nil, errRefused
	}
	value, err := kind.read(*given.Data)
	return object{"value": value}, err
}

// read makes of the text of a znode its value. Beside the schema there are rules for some kinds.
func (z *znode) read(data string) (any, error) {
	id, err := wholeNumber(json.Number(data), 0)
	if z.Path == "/controller_epoch" { // no JSON document, hence no blanks around it
		return id, err
	} else if z.Path == "/controller" && err == nil { // before 0.8 the bare id
		return object{"brokerid": id}, nil
	}
	var value any // of a key that stands twice the last counts
	decoder := json.NewDecoder(strings.NewReader(data))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil || decoder.Decode(new(any)) != io.EOF {
		return nil, errRefused // it is no JSON, or something stands behind it
	}
	payload, _ := value.(object)
	switch z.Path {
	case "/brokers/ids/{broker}": // end points are needed from version 2 on
		version, err := wholeNumber(payload["version"], 1)
		if err != nil || version > 1 && payload["endpoints"] == nil {
			return nil, errRefused
		}
	case "/config/topics/{topic}":
		if payload["version"] != json.Number("1") {
			return nil, errRefused
		}
	case "/brokers/topics/{topic}":
		if _, there := payload["partitions"]; payload != nil && !there {
			payload["partitions"] = object{}
		}
	}
	return z.Schema.check(value)
}

// wholeNumber is a whole number within 32 bits that is at least lowest.
func wholeNumber(value any, lowest int32) (int32, error) {
	digits, _ := value.(json.Number)
	n, err := strconv.ParseInt(string(digits), 10, 32)
	if err != nil || int32(n) < lowest {
		return 0, errRefused
	}
	return int32(n), nil
}

// check returns what a lenient reader makes of a value: types are checked, and that there is what is needed, but no
// pattern, and no version or time stamp. Keys that are not known are passed over.
func (s *schema) check(value any) (any, error) {
	if len(s.OneOf) > 0 { // which keys of a registration are needed is for read to say
		s = &schema{Type: "object", Properties: s.OneOf[len(s.OneOf)-1].Properties}
	}
	kind := "null"
	var err error
	switch v := value.(type) {
	case string:
		kind = "string"
	case bool:
		kind = "boolean"
	case json.Number:
		kind = "integer"
		_, err = wholeNumber(v, s.Minimum)
	case []any:
		kind = "array"
		for i := 0; i < len(v) && err == nil && s.Items != nil; i++ {
			v[i], err = s.Items.check(v[i])
		}
	case object:
		kind = "object"
		value, err = s.checkObject(v)
	}
	names, _ := s.Type.([]any)
	if err != nil || s.Type != kind && !slices.Contains(names, any(kind)) {
		return nil, errRefused
	}
	return value, nil
}

// checkObject checks that the needed keys are there, and each that is known. At versions and time stamps nobody looks,
// or only znode.read does.
func (s *schema) checkObject(given object) (any, error) {
	unread := []string{"version", "timestamp"}
	for _, key := range s.Required {
		if _, there := given[key]; !there && !slices.Contains(unread, key) {
			return nil, errRefused
		}
	}
	read := object{}
	for key, inner := range given {
		property, known := s.Properties[key]
		if s.AdditionalProperties != nil { // a map, whose keys have no names
			property = *s.AdditionalProperties
		} else if !known {
			continue
		} else if slices.Contains(unread, key) {
			read[key] = inner
			continue
		}
		if _, err := wholeNumber(json.Number(key), 0); err != nil && s.PropertyNames != nil {
			return nil, err
		}
		var err error
		if read[key], err = property.check(inner); err != nil {
			return nil, err
		}
	}
	return read, nil
}

// ---- encode_request and decode_request ----

// versions is a range such as "0", "1-2" or "2+"; "none" and the empty text contain nothing.
type versions string

// has says whether the range contains a version.
func (v versions) has(version int64) bool {
	first, last, isRange := strings.Cut(strings.TrimSuffix(string(v), "+"), "-")
	from, err := strconv.ParseInt(first, 10, 16)
	to := from
	if isRange {
		to, err = strconv.ParseInt(last, 10, 16)
	} else if strings.HasSuffix(string(v), "+") {
		to = math.MaxInt16
	}
	return err == nil && from <= version && version <= to
}

// field is a field of a message, or a whole message: a header, or the body of a request.
type field struct {
	Name, Type                                string
	APIKey                                    int64
	ValidVersions, Versions, NullableVersions versions
	Fields                                    []field
}

// request is the definition of a request.
type request struct {
	Name       string
	BareHeader []int64 `json:"bare_header"` // the versions that go without a client id
	Request    field
}

// find finds a request's definition by its name or its key, and the version of the header that stands before it.
func (a *adapter) find(name string, key, version int64) (found *request, header int64) {
	for _, r := range a.codec.Requests {
		if (r.Name == name || r.Request.APIKey == key) && r.Request.ValidVersions.has(version) {
			if !slices.Contains(r.BareHeader, version) {
				header = 1
			}
			return &r, header
		}
	}
	return nil, 0
}

// encodeRequest gives the bytes of a request, from its header on.
func (a *adapter) encodeRequest(given struct {
	Name         string
	Version      int64
	Header, Body object
}) (object, error) {
	found, headerVersion := a.find(given.Name, -1, given.Version)
	if found == nil {
		return nil, fmt.Errorf("no request %q of version %d is defined", given.Name, given.Version)
	}
	encoded, err := encode(nil, a.codec.Header, headerVersion, given.Header)
	if err == nil {
		encoded, err = encode(encoded, found.Request, given.Version, given.Body)
	}
	return object{"hex": hex.EncodeToString(encoded)}, err
}

// encode appends the value of a field.
func encode(to []byte, f field, version int64, value any) (_ []byte, err error) {
	element, isList := strings.CutPrefix(f.Type, "[]")
	switch v := value.(type) {
	case []any:
		if !isList {
			break
		}
		to = binary.BigEndian.AppendUint32(to, uint32(len(v)))
		f.Type = element
		for i := 0; i < len(v) && err == nil; i++ {
			to, err = encode(to, f, version, v[i])
		}
		return to, err
	case object:
		for i := 0; i < len(f.Fields) && err == nil; i++ {
			if inner := f.Fields[i]; inner.Versions.has(version) {
				to, err = encode(to, inner, version, v[inner.Name])
			}
		}
		return to, err
	case json.Number:
		n, err := wholeNumber(v, math.MinInt32)
		if err == nil && f.Type == "int32" {
			return binary.BigEndian.AppendUint32(to, uint32(n)), nil
		} else if err == nil && f.Type == "int16" && n == int32(int16(n)) {
			return binary.BigEndian.AppendUint16(to, uint16(n)), nil
		}
	case bool:
		if f.Type == "bool" {
			return append(to, map[bool]byte{true: 1}[v]), nil
		}
	case string:
		if f.Type == "string" && len(v) <= math.MaxInt16 {
			return append(binary.BigEndian.AppendUint16(to, uint16(len(v))), v...), nil
		}
	case nil:
		if f.NullableVersions.has(version) {
			return append(to, 0xff, 0xff), nil // the length -1
		}
	}
	return nil, fmt.Errorf("%s: %v is no %s", f.Name, value, f.Type)
}

// decodeRequest makes of bytes the request that they are.
func (a *adapter) decodeRequest(given struct{ Hex string }) (object, error) {
	encoded, err := hex.DecodeString(given.Hex)
	if err != nil || len(encoded) < 4 {
		return nil, errRefused
	}
	key, version := int64(binary.BigEndian.Uint16(encoded)), int64(binary.BigEndian.Uint16(encoded[2:]))
	found, headerVersion := a.find("", key, version)
	if found == nil {
		return nil, errRefused
	}
	d := &decoder{rest: encoded}
	header := d.value(a.codec.Header, headerVersion)
	body := d.value(found.Request, version)
	if d.failed || len(d.rest) > 0 {
		return nil, errRefused
	}
	return object{"name": found.Name, "version": version, "header": header, "body": body}, nil
}

// decoder takes values from the front of bytes. Once it has failed, what it returns means nothing.
type decoder struct {
	rest   []byte
	failed bool
}

// take takes n bytes.
func (d *decoder) take(n int64) (taken []byte) {
	if n < 0 || n > int64(len(d.rest)) {
		d.failed, n = true, 0
	}
	taken, d.rest = d.rest[:n], d.rest[n:]
	return taken
}

// integer takes a signed integer of so many bytes, big endian.
func (d *decoder) integer(size int64) (n int64) {
	for _, b := range d.take(size) {
		n = n<<8 | int64(b)
	}
	unused := 64 - 8*size
	return n << unused >> unused // extends the sign
}

// value takes the value of a field.
func (d *decoder) value(f field, version int64) any {
	if element, isList := strings.CutPrefix(f.Type, "[]"); isList {
		count := d.integer(4)
		d.failed = d.failed || count < 0
		f.Type = element
		list := []any{}
		for ; count > 0 && !d.failed; count-- {
			list = append(list, d.value(f, version))
		}
		return list
	}
	switch f.Type {
	case "int16":
		return d.integer(2)
	case "int32":
		return d.integer(4)
	case "bool":
		flag := d.integer(1)
		d.failed = d.failed || flag != 0 && flag != 1
		return flag == 1
	case "string":
		length := d.integer(2)
		if length == -1 && f.NullableVersions.has(version) {
			return nil
		}
		taken := d.take(length)
		d.failed = d.failed || !utf8.Valid(taken)
		return string(taken)
	}
	fields := object{}
	for _, inner := range f.Fields {
		if inner.Versions.has(version) {
			fields[inner.Name] = d.value(inner, version)
		}
	}
	return fields
}
