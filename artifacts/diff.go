package artifacts

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/wI2L/jsondiff"

	"liminal/internal/fault"
)

// Diff gives the JSON Patch (RFC 6902) that makes after of before; null when
// they mean the same. Items of a list that all have an id of their own, such as
// nodes, are followed by it: one that was put in between, taken out or moved is
// one operation, and what changed in another is told of that one. Of other
// lists the longest common part stays.
func Diff(before, after json.RawMessage) (json.RawMessage, error) {
	var was, is any
	if err := errors.Join(json.Unmarshal(before, &was), json.Unmarshal(after, &is)); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "The documents cannot be compared: %s.", err)
	}
	var d difference
	if err := d.compare("", was, is); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "The documents cannot be compared: %s.", err)
	}
	if len(d) == 0 {
		return nil, nil
	}
	return json.Marshal(d)
}

// difference is the operations found so far.
type difference []jsondiff.Operation

func (d *difference) add(op, path string, value any) {
	*d = append(*d, jsondiff.Operation{Type: op, Path: path, Value: value})
}

func (d *difference) compare(path string, was, is any) error {
	if reflect.DeepEqual(was, is) {
		return nil
	}
	switch was := was.(type) {
	case map[string]any:
		if is, ok := is.(map[string]any); ok {
			return d.members(path, was, is)
		}
	case []any:
		if is, ok := is.([]any); ok {
			return d.items(path, was, is)
		}
	}
	d.add(jsondiff.OperationReplace, path, is)
	return nil
}

func (d *difference) members(path string, was, is map[string]any) error {
	keys := slices.Concat(slices.Collect(maps.Keys(was)), slices.Collect(maps.Keys(is)))
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		at := path + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
		old, had := was[key]
		value, has := is[key]
		switch {
		case !had:
			d.add(jsondiff.OperationAdd, at, value)
		case !has:
			d.add(jsondiff.OperationRemove, at, nil)
		default:
			if err := d.compare(at, old, value); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *difference) items(path string, was, is []any) error {
	old, now := idsOf(was), idsOf(is)
	if old == nil || now == nil {
		ops, err := jsondiff.CompareWithoutMarshal(was, is, jsondiff.LCS())
		for _, op := range ops {
			op.Path = path + op.Path
			*d = append(*d, op)
		}
		return err
	}
	before := make(map[string]any, len(was))
	for i, id := range old {
		before[id] = was[i]
	}
	d.rearrange(path, old, now, is)
	for i, id := range now {
		if item, kept := before[id]; kept {
			if err := d.compare(place(path, i), item, is[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func place(path string, i int) string { return path + "/" + strconv.Itoa(i) }

// rearrange takes out, puts in and moves items until they stand as in now. Of
// those that stay as many as can keep their place.
func (d *difference) rearrange(path string, ids, now []string, is []any) {
	ids = slices.Clone(ids)
	for i := len(ids) - 1; i >= 0; i-- {
		if !slices.Contains(now, ids[i]) {
			ids = slices.Delete(ids, i, i+1)
			d.add(jsondiff.OperationRemove, place(path, i), nil)
		}
	}
	settled := inOrder(ids, now)
	to := 0 // behind the item that stands before it
	for i, id := range now {
		if settled[id] {
			to = slices.Index(ids, id) + 1
			continue
		}
		from := slices.Index(ids, id)
		if from < 0 {
			d.add(jsondiff.OperationAdd, place(path, to), is[i])
		} else {
			ids = slices.Delete(ids, from, from+1)
			if from < to {
				to--
			}
			if from != to {
				*d = append(*d, jsondiff.Operation{Type: jsondiff.OperationMove, From: place(path, from), Path: place(path, to)})
			}
		}
		ids = slices.Insert(ids, to, id)
		to++
	}
}

// inOrder gives the most of ids that stand in the order of now already: the
// longest rising run of their places there.
func inOrder(ids, now []string) map[string]bool {
	places := make(map[string]int, len(now))
	for i, id := range now {
		places[id] = i
	}
	var ends []int // the place at which the best run of each length ends
	var last []int // the item that run ends with
	previous := make([]int, len(ids))
	for i, id := range ids {
		n, _ := slices.BinarySearch(ends, places[id])
		if n == len(ends) {
			ends, last = append(ends, 0), append(last, 0)
		}
		ends[n], last[n] = places[id], i
		previous[i] = -1
		if n > 0 {
			previous[i] = last[n-1]
		}
	}
	kept := map[string]bool{}
	if len(last) > 0 {
		for i := last[len(last)-1]; i >= 0; i = previous[i] {
			kept[ids[i]] = true
		}
	}
	return kept
}

// idsOf is the ids of a list's items; nil where one has none, or another's.
func idsOf(list []any) []string {
	seen := map[string]bool{}
	ids := make([]string, 0, len(list))
	for _, item := range list {
		m, _ := item.(map[string]any)
		id, _ := m["id"].(string)
		if id == "" || seen[id] {
			return nil
		}
		seen[id] = true
		ids = append(ids, id)
	}
	return ids
}
