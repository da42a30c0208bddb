package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// This file has what znodes hold.

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

// readInto reads a znode as read_znode does, and puts what it says into a struct.
func (a *adapter) readInto(path string, data *string, into any) error {
	outcome, err := a.readZnode(struct {
		Path string
		Data *string
	}{path, data})
	if err != nil {
		return err
	}
	text, err := json.Marshal(outcome["value"])
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// readState reads a state znode; it is the same for every partition.
func (a *adapter) readState(data *string) (read state, err error) {
	err = a.readInto("/brokers/topics/any/partitions/0/state", data, &read)
	return read, err
}
