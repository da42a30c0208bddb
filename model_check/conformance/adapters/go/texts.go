package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// This file reads and writes texts by templates. A field's type has a pattern, which says where the field ends, and a
// reader and a writer for what stands there. A type may have a template of its own, as a leadership has.

// fieldType is how a field is written.
type fieldType struct {
	pattern string // without groups that capture
	read    func(string) (any, error)
	write   func(any) (string, error)
}

const (
	topic  = `[A-Za-z0-9._-]+`
	id     = `(?:0|[1-9][0-9]*)`
	number = `(?:0|-?[1-9][0-9]*)`
)

// errText says that a text, or a field, does not have the form of its template.
var errText = errors.New("not of this form")

// placeholder is a field in a template.
var placeholder = regexp.MustCompile(`\{([a-z_]+)(?::([a-z_]+))?\}`)

// typesByName has the types of fields that always are written the same way.
var typesByName = map[string]string{
	"controller": "id", "epoch": "id", "broker": "id", "replica": "id", "controller_epoch": "id", "known_epoch": "id",
	"assigned_replicas": "ids", "isr": "ids", "brokers": "ids", "new": "ids", "dead": "ids", "live": "ids",
}

// fieldTypes are the types by name; a field whose name is not in typesByName is of the type of its own name, or a number.
var fieldTypes = map[string]fieldType{
	"id": numberType(id, 0), "number": numberType(number, math.MinInt32), "any": word(`.*`),
	"role": word(`become-leader|become-follower`), "delete": truth,
	"partition_state": word(states("partition")), "replica_state": word(states("replica")),
	"became_new": word("NewPartition"), "became_online": word("OnlinePartition"),
	"became_lost": word("OfflinePartition|NonExistentPartition"),
	"ids":         list("", brokerID, ",", ""), "spaced": list("[", brokerID, ", ", "]"),
	"set": list("Set(", brokerID, ", ", ")"), "one": single,
	"partition": keyed("[", ",", "]"), "hyphen": keyed("", "-", ""),
	"partitions": list("", keyed("[", ",", "]"), ",", ""),
	"replicas":   list("", keyed("[Topic=", ",Partition=", ",Replica=", "]"), ",", ""),
}

// The types that have a template look up the types of its fields.
func init() {
	fieldTypes["leadership"] = composite(leaderIsr)
	fieldTypes["json"] = composite(`{"leader":{leader},"leader_epoch":{leader_epoch},"isr":[{isr}]}`)
	fieldTypes["new_state"] = composite("PartitionState(controllerEpoch={controller_epoch}, leader={leader}, " +
		"leaderEpoch={leader_epoch}, isr={isr:spaced}, zkVersion={zk_version}, replicas={replicas:spaced})")
	fieldTypes["old_state"] = counted(composite("(LeaderAndIsrInfo:" + leaderIsr +
		",ReplicationFactor:{count}),AllReplicas:{replicas:ids})"))
}

// typeOf is the type of a field in a template.
func typeOf(name, given string) fieldType {
	for _, option := range []string{given, typesByName[name], name} {
		if t, known := fieldTypes[option]; known {
			return t
		}
	}
	return fieldTypes["number"]
}

// pattern makes of a template one that matches its texts, and has the fields' names in order.
func pattern(template string, captures bool) (expression string, names, types []string) {
	open, rest := map[bool]string{true: "(", false: "(?:"}[captures], 0
	for _, at := range placeholder.FindAllStringSubmatchIndex(template, -1) {
		name, given := template[at[2]:at[3]], ""
		if at[4] >= 0 {
			given = template[at[4]:at[5]]
		}
		expression += regexp.QuoteMeta(template[rest:at[0]]) + open + typeOf(name, given).pattern + ")"
		names, types, rest = append(names, name), append(types, given), at[1]
	}
	return expression + regexp.QuoteMeta(template[rest:]), names, types
}

// readText takes the fields out of a text. One that stands there twice must say the same.
func readText(template, text string) (object, error) {
	expression, names, types := pattern(template, true)
	found := regexp.MustCompile(`^(?:` + expression + `)$`).FindStringSubmatch(text)
	if found == nil {
		return nil, errText
	}
	fields := object{}
	for i, name := range names {
		value, err := typeOf(name, types[i]).read(found[i+1])
		if before, twice := fields[name]; err != nil || twice && !reflect.DeepEqual(before, value) {
			return nil, errText
		}
		fields[name] = value
	}
	return fields, nil
}

// writeText puts fields into a template.
func writeText(template string, fields object) (string, error) {
	var failed error
	text := placeholder.ReplaceAllStringFunc(template, func(field string) string {
		parts := placeholder.FindStringSubmatch(field)
		written, err := typeOf(parts[1], parts[2]).write(fields[parts[1]])
		if err != nil {
			failed = fmt.Errorf("%s: %w", parts[1], err)
		}
		return written
	})
	return text, failed
}

// ---- Types ----

// word is a text that stands as it is.
func word(pattern string) fieldType {
	return fieldType{pattern, func(text string) (any, error) { return text, nil }, func(value any) (string, error) {
		text, isText := value.(string)
		if !isText {
			return "", errText
		}
		return text, nil
	}}
}

// states is a pattern of the states of a machine.
func states(machine string) string {
	return strings.Join(slices.Sorted(maps.Keys(predecessors[machine])), "|")
}

// truth is a boolean.
var truth = fieldType{"true|false", func(text string) (any, error) { return text == "true", nil },
	func(value any) (string, error) { return fmt.Sprint(value), nil }}

// numberType is a number that is at least lowest.
func numberType(pattern string, lowest int32) fieldType {
	return fieldType{pattern, func(text string) (any, error) { return wholeNumber(json.Number(text), lowest) },
		func(value any) (string, error) {
			n, err := wholeNumber(value, lowest)
			return strconv.Itoa(int(n)), err
		}}
}

// brokerID is an element of a list.
var brokerID = numberType(id, 0)

// keyed is a partition or a replica, whose parts stand between these texts: the topic, the number, and perhaps a broker.
func keyed(around ...string) fieldType {
	topics := regexp.QuoteMeta(around[0]) + "(" + topic + ")"
	written, key := topics, "(.*)"
	for i, text := range around[1:] {
		written += regexp.QuoteMeta(text)
		if i < len(around)-2 {
			written += "(" + id + ")"
			key += []string{"-", "/"}[i] + "(" + id + ")"
		}
	}
	form, keyForm := regexp.MustCompile("^"+written+"$"), regexp.MustCompile("^"+key+"$")
	read := func(text string) (any, error) {
		parts := form.FindStringSubmatch(text)
		if parts == nil {
			return nil, errText
		}
		for i, digits := range parts[2:] {
			if _, err := wholeNumber(json.Number(digits), 0); err != nil {
				return nil, err
			}
			parts[1] += []string{"-", "/"}[i] + digits
		}
		return parts[1], nil
	}
	return fieldType{strings.ReplaceAll(strings.ReplaceAll(written, "(?:", "("), "(", "(?:"), read,
		func(value any) (text string, err error) {
			key, _ := value.(string)
			parts := keyForm.FindStringSubmatch(key)
			if parts == nil {
				return "", errText
			}
			for i, part := range parts[1:] {
				text += around[i] + part
			}
			return text + around[len(around)-1], nil
		}}
}

// list is a list between two texts.
func list(open string, of fieldType, between, end string) fieldType {
	elements := fmt.Sprintf("(?:%s(?:%s%s)*)?", of.pattern, regexp.QuoteMeta(between), of.pattern)
	separator := regexp.MustCompile(of.pattern)
	return fieldType{regexp.QuoteMeta(open) + elements + regexp.QuoteMeta(end), func(text string) (any, error) {
		values := []any{}
		inner := strings.TrimSuffix(strings.TrimPrefix(text, open), end)
		for _, element := range separator.FindAllString(inner, -1) {
			value, err := of.read(element)
			if err != nil {
				return nil, err
			}
			values = append(values, value)
		}
		return values, nil
	}, func(value any) (string, error) {
		values, isList := value.([]any)
		if !isList {
			return "", errText
		}
		texts := []string{}
		for _, element := range values {
			text, err := of.write(element)
			if err != nil {
				return "", err
			}
			texts = append(texts, text)
		}
		return open + strings.Join(texts, between) + end, nil
	}}
}

// single is a set of one broker, which stands there bare.
var single = fieldType{id, list("", brokerID, ",", "").read, list("", brokerID, ",", "").write}

// composite is an object by a template of its own.
func composite(template string) fieldType {
	expression, _, _ := pattern(template, false)
	return fieldType{expression, func(text string) (any, error) { return readText(template, text) },
		func(value any) (string, error) {
			fields, isObject := value.(object)
			if !isObject {
				return "", errText
			}
			return writeText(template, fields)
		}}
}

// counted is a state of a partition with the number of its replicas, which is no field.
func counted(of fieldType) fieldType {
	return fieldType{of.pattern, func(text string) (any, error) {
		value, err := of.read(text)
		if err != nil {
			return nil, err
		}
		fields := value.(object)
		if int(fields["count"].(int32)) != len(fields["replicas"].([]any)) {
			return nil, errText
		}
		delete(fields, "count")
		return fields, nil
	}, func(value any) (string, error) {
		fields, _ := value.(object)
		replicas, isList := fields["replicas"].([]any)
		if !isList {
			return "", errText
		}
		fields = maps.Clone(fields)
		fields["count"] = json.Number(strconv.Itoa(len(replicas)))
		return of.write(fields)
	}}
}
