package main

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// This file has the bytes of requests and answers, by the message definitions of requests.json.

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

// field is a field of a message, or a whole message: a header, or the body of a request or of an answer.
type field struct {
	Name, Type                                string
	APIKey                                    int64
	ValidVersions, Versions, NullableVersions versions
	Fields                                    []field
}

// request is the definition of a request, and of its answer.
type request struct {
	Name       string
	BareHeader []int64 `json:"bare_header"` // the versions that go without a client id
	Request    field
	Response   field // its version is that of the request
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

// ---- encode_response and decode_response ----

// answer is which answer is asked for, by the request that it answers, and what stands in it.
type answer struct {
	Name          string
	Version       int64
	CorrelationID json.Number `json:"correlation_id"`
	Body          object
	Hex           string
}

// correlationID is the header of an answer.
var correlationID = field{Name: "CorrelationId", Type: "int32"}

// encodeResponse gives the bytes of an answer, from its correlation id on.
func (a *adapter) encodeResponse(given answer) (object, error) {
	found, _ := a.find(given.Name, -1, given.Version)
	if found == nil {
		return nil, fmt.Errorf("no answer to %q of version %d is defined", given.Name, given.Version)
	}
	encoded, err := encode(nil, correlationID, 0, given.CorrelationID)
	if err == nil {
		encoded, err = encode(encoded, found.Response, given.Version, given.Body)
	}
	return object{"hex": hex.EncodeToString(encoded)}, err
}

// decodeResponse makes of bytes the answer that they are.
func (a *adapter) decodeResponse(given answer) (object, error) {
	found, _ := a.find(given.Name, -1, given.Version)
	encoded, err := hex.DecodeString(given.Hex)
	if found == nil || err != nil {
		return nil, errRefused
	}
	d := &decoder{rest: encoded}
	id := d.value(correlationID, 0)
	body := d.value(found.Response, given.Version)
	if d.failed || len(d.rest) > 0 {
		return nil, errRefused
	}
	return object{"correlation_id": id, "body": body}, nil
}

// ---- Values ----

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
