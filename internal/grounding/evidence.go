package grounding

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Bounds of what is looked through: what a run's calls return has bounds of its
// own, and nothing may cost more than that.
const (
	maxText  = 4 << 20 // bytes of all results
	maxValue = 80      // bytes of a value that a sentence may mention as a name
	maxDepth = 24
)

// Evidence is what a text may say. It is built once and read by any number of
// judgements, one at a time.
type Evidence struct {
	options Options
	today   day
	rows    []row
	index   map[key][]int32 // rows that hold a value
	plain   map[int64]bool  // numbers that are ones in JSON, by their bits
	spans   map[int64]unit  // numbers with units that the person said
	hay     strings.Builder // every text, folded
	folded  string          // the same, once it is asked for
	records map[string][]int32
	lists   []list
	kinds   map[string]bool // entities there may be records of
	paths   map[string]Chip // of lists that open, by their path
	last    string          // the path of the list a call returned last
	fields  map[string]int32
	values  []field
	has     map[mention][]int32  // rows that have a value
	meant   map[string][]string  // a name or a value, and what its words mean
	called  map[string]*called   // what words with a meaning name
	words   map[string][]mention // a word, and which values hold it
	lines   map[mention]bool     // values that records are told by
	holders map[mention][]int32  // rows that have such a value
	phrases map[string][]phrase  // such values of several words, by their first
	lower   map[string][]mention // such values of one word without a capital
	follow  map[string][]string  // a word of a name, and the next one
	firsts  map[string][]int32   // words that begin a name of several
	lasts   map[string][]int32   // words that end one, and the fields
	byLine  map[string][]int32   // what a record is told by, folded
	byText  map[string][]int32   // rows that have a text, once they are asked for
	ties    map[int32][]int32    // the rows of a record and what is tied to it, once they are asked for
	left    int
	member  string // what a value that is taken in is called
	scanner scanner

	// What a model is told that checks an answer.
	rules, wrote, cited []string
	results             []Result
	told, compact       string // all of it, once it is asked for
}

// row is an object of a result, or what the person said.
type row struct {
	parent  int32 // -1: none
	list    int32 // -1: it is in no list
	record  *Record
	path    string // of its object in the result, and the tool
	has     []mention
	figures []figure // numbers of JSON
	members []string // names of what it holds that is not null
	lacking []string // names of what is false or null in it
	names   []string // its short texts, of which one may be the id of another record
	lower   []string // the same in small letters
	folded  []string // the same as names are compared
	objects []int32  // objects it holds
	days    []day
	named   []string // the names of what gives the days
	months  []int64  // of the year, where the row is of one
	times   []int64  // of day, in minutes
	timed   []string // the names of what gives the times
	nums    []claim  // numbers with units in its texts
	long    bool     // a text of it is more than a name
}

// figure is a number that a result gives a name.
type figure struct {
	name  string
	value float64
	of    measure
}

// mention is a value of a field.
type mention struct{ field, value int32 }

type field struct {
	name   string
	folded map[string]int32
	texts  []string
	words  []int // by which each may be mentioned
}

// list is the rows of one list of a result.
type list struct {
	name   string
	entity string
	rows   []int32
	sums   sums // of all its rows, once they are asked for
}

// given is the row of the person's words and of today.
const given = 0

// now is the row of today.
const now = 1

// New is evidence that holds nothing but the day it is.
func New(today time.Time, o Options) *Evidence {
	e := &Evidence{
		options: o, today: dayOf(today), index: map[key][]int32{}, plain: map[int64]bool{}, spans: map[int64]unit{},
		records: map[string][]int32{}, fields: map[string]int32{}, words: map[string][]mention{}, left: maxText,
		kinds: map[string]bool{}, paths: map[string]Chip{}, lines: map[mention]bool{}, holders: map[mention][]int32{},
		phrases: map[string][]phrase{}, lower: map[string][]mention{}, has: map[mention][]int32{}, meant: map[string][]string{}, called: map[string]*called{}, follow: map[string][]string{}, lasts: map[string][]int32{}, firsts: map[string][]int32{},
		rows: []row{{parent: -1, list: -1}, {parent: -1, list: -1}},
	}
	e.scanner.surnames, e.byLine = map[string]bool{}, map[string][]int32{}
	e.hay.WriteString("\n ")
	e.hold(now, key{form: aDay, n: int64(e.today)})
	return e
}

func (e *Evidence) hold(r int32, k key) {
	if k.form == aDay {
		k = k.resolve(e.today)
		e.rows[r].days = append(e.rows[r].days, day(k.n))
		e.rows[r].named = append(e.rows[r].named, e.member)
	}
	if k.form == aMonth {
		e.rows[r].months = append(e.rows[r].months, k.n%100)
	}
	if k.form == aTime {
		e.rows[r].times = append(e.rows[r].times, k.n)
		e.rows[r].timed = append(e.rows[r].timed, e.member)
	}
	e.put(r, k)
	for _, more := range expand(k) {
		if far := k.n - int64(e.today); more.form == aMonthOf && (far > 400 || far < -400) {
			continue // without a year, a month is one that is near
		}
		e.put(r, more)
	}
}

func (e *Evidence) put(r int32, k key) {
	held := e.index[k]
	if n := len(held); n == 0 || held[n-1] != r {
		e.index[k] = append(held, r)
	}
}

// Kind makes an entity known that records may be of, though none may be there.
func (e *Evidence) Kind(k Kind) {
	if k.Entity == "" {
		return
	}
	e.kinds[k.Entity] = true
	if k.List != "" {
		e.paths[k.List] = Chip{Kind: "nav", Action: "go", ID: k.List, Href: k.List, Label: k.Entity, Source: k.Source}
	}
}

// Result adds what a call returned, and gives its records.
func (e *Evidence) Result(r Result) []Record {
	for _, k := range r.Kinds {
		e.Kind(k)
		if k.List != "" {
			e.last = k.List
		}
	}
	root, ok := r.Value.(map[string]any)
	if !ok {
		root = map[string]any{"value": r.Value}
	}
	e.results, e.told = append(e.results, r), ""
	w, first := walk{e, r}, len(e.rows)
	w.object(root, -1, -1, "", 0)
	var found []Record
	for _, row := range e.rows[first:] {
		if row.record != nil {
			found = append(found, *row.record)
		}
	}
	return found
}

func (e *Evidence) row(parent, list int32) int32 {
	e.rows = append(e.rows, row{parent: parent, list: list})
	return int32(len(e.rows) - 1)
}

type walk struct {
	e *Evidence
	Result
}

// object takes in an object and what it holds.
func (w walk) object(object map[string]any, parent, in int32, path string, depth int) int32 {
	e := w.e
	r := e.row(parent, in)
	e.rows[r].path = path
	if depth > maxDepth {
		return r
	}
	w.identify(r, object, path)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		e.figureName(name)
		w.member(r, name, object[name], path, depth)
	}
	e.overnight(r)
	e.known(r)
	return r
}

func (w walk) member(r int32, name string, value any, path string, depth int) {
	e := w.e
	at := name
	if path != "" {
		at = path + "/" + name
	}
	if value == nil || value == false {
		e.rows[r].lacking = append(e.rows[r].lacking, name)
	}
	if value != nil && value != false && value != "" && value != 0.0 {
		e.rows[r].members = append(e.rows[r].members, name)
		e.calls(name, func(c *called) { add(&c.members, name) })
	}
	switch x := value.(type) {
	case map[string]any:
		inner := w.object(x, r, -1, at, depth+1)
		e.rows[r].objects = append(e.rows[r].objects, inner)
	case []any:
		n := int32(-1)
		for _, item := range x {
			object, ok := item.(map[string]any)
			if !ok {
				e.scalar(r, w.Tool+"/"+path, name, item)
				continue
			}
			if n < 0 {
				n = int32(len(e.lists))
				e.lists = append(e.lists, list{name: name, entity: w.entity(at)})
				e.calls(name, func(c *called) { add(&c.lists, n) })
			}
			inner := w.object(object, r, n, at, depth+1)
			e.lists[n].rows = append(e.lists[n].rows, inner)
		}
		if len(x) == 0 {
			e.lists = append(e.lists, list{name: name, entity: w.entity(at)})
		}
	default:
		e.scalar(r, w.Tool+"/"+path, name, x)
	}
}

func (w walk) entity(at string) string {
	for _, k := range w.Kinds {
		if k.In == at {
			return k.Entity
		}
	}
	return ""
}

// identify makes a record of an object that is one.
func (w walk) identify(r int32, object map[string]any, path string) {
	for _, k := range w.Kinds {
		if k.In != path || k.Entity == "" {
			continue
		}
		id := k.ID
		if id == "" {
			id = "id"
		}
		rec := &Record{Entity: k.Entity, ID: textOf(object[id]), Call: w.Call, Source: k.Source}
		if rec.ID == "" {
			return
		}
		if k.Tell != nil {
			rec.Line, rec.Title = k.Tell(object)
		}
		if k.Page != nil {
			rec.Href = k.Page(rec.ID)
		}
		w.e.rows[r].record = rec
		return
	}
}

// known makes a row findable by the id of its record.
func (e *Evidence) known(r int32) {
	if rec := e.rows[r].record; rec != nil {
		id := strings.ToLower(rec.ID)
		e.records[id] = append(e.records[id], r)
		e.put(r, tokenKey(rec.ID))
		if line := fold(rec.Line); line != "" && !rec.Earlier {
			e.byLine[line] = append(e.byLine[line], r)
		}
		e.ties, e.byText = nil, nil
	}
}

func textOf(v any) string {
	switch x := v.(type) {
	case string:
		return x
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return ""
}

// scalar takes in one value of a row.
func (e *Evidence) scalar(r int32, of, name string, v any) {
	e.member = name
	switch x := v.(type) {
	case float64:
		e.figure(r, name, x, measureOf(name))
	case string:
		x = e.fits(x)
		if x == "" {
			return
		}
		for _, c := range e.scanner.values(x) {
			for _, k := range c.keys {
				whole := c.start == 0 && c.end == len(x) && c.value <= mostSmall // a room's number
				if (c.label && len(x) <= maxValue && measures[firstWord(x[c.end:])].kind == "" || whole) && c.unit == noUnit && k.form == aNumber {
					k.form = aLabel
				}
				e.hold(r, k)
			}
			if c.sort == sortNumber && c.unit != noUnit {
				e.rows[r].nums = append(e.rows[r].nums, c)
			}
			if c.sort == sortID && strings.ContainsAny(x[c.start:c.end], ". ") {
				e.parts(r, x[c.start:c.end])
			}
		}
		if len(x) <= 64 {
			e.rows[r].names = append(e.rows[r].names, x)
			e.rows[r].lower = append(e.rows[r].lower, strings.ToLower(x))
			e.rows[r].folded = append(e.rows[r].folded, fold(x))
			if !strings.ContainsAny(x, " \n") {
				e.put(r, tokenKey(x))
			}
		}
		e.worded(r, name, x)
		if y, m, ok := strings.Cut(x, "-"); ok && len(y) == 4 && len(m) == 2 { // a month
			if t, err := time.Parse("2006-01", x); err == nil {
				e.hold(r, key{form: aMonth, n: int64(t.Year()*100 + int(t.Month()))})
				e.put(r, key{form: aMonthOf, n: int64(t.Month())})
			}
		}
		e.say(x)
		e.rows[r].long = e.rows[r].long || len(x) > 64
		if len(x) <= maxValue {
			e.mentionable(r, of, name, x)
		}
	}
}

// figure takes in a number that a result names.
func (e *Evidence) figure(r int32, name string, x float64, of measure) {
	if of.kind == "money" && of.times < 1 && x == math.Trunc(x) { // told in whole ones
		x, of = x*of.times, measures["eur"]
	}
	k := number(x)
	e.put(r, k)
	if x < 0 { // fell by 4.2 percent
		e.put(r, number(-x))
		e.plain[number(-x).n] = true
	}
	e.put(r, key{form: aFigure, n: k.n})
	e.rows[r].figures = append(e.rows[r].figures, figure{name, x, of})
	e.calls(name, func(c *called) { add(&c.figures, name) })
	e.plain[k.n] = true
}

// parts are the numbers in a rule's or a file's number: RoP.023.
func (e *Evidence) parts(r int32, written string) {
	for _, part := range strings.FieldsFunc(written, func(c rune) bool { return c < '0' || c > '9' }) {
		if v, err := strconv.ParseFloat(part, 64); err == nil {
			e.put(r, number(v))
		}
	}
}

// haystack is every text of the evidence, folded.
func (e *Evidence) haystack() string {
	if e.folded == "" {
		e.folded = e.hay.String()
	}
	return e.folded
}

// context are the rows that say what a row is of: those around it, the objects
// beside them, and the records it names by their ids.
func (e *Evidence) context(r int32, visit func(int32) bool) bool {
	for _, name := range e.rows[r].lower { // the record that it names by its id
		for _, of := range e.records[name] {
			if of != r && (e.rows[r].record == nil || e.rows[of].record.Entity != e.rows[r].record.Entity) && visit(of) {
				return true
			}
		}
	}
	for up := e.rows[r].parent; up >= 0; up = e.rows[up].parent {
		if visit(up) {
			return true
		}
		for _, o := range e.rows[up].objects {
			if o != r && visit(o) {
				return true
			}
		}
	}
	return false
}

// Record finds a record a call of this run returned, or an answer before it
// cited. entity empty: of any entity.
func (e *Evidence) Record(entity, id string) (Record, bool) {
	if r := e.find(entity, id); r >= 0 {
		return *e.rows[r].record, true
	}
	return Record{}, false
}

func (e *Evidence) find(entity, id string) int32 {
	best := int32(-1)
	for _, r := range e.records[strings.ToLower(id)] {
		rec := e.rows[r].record
		if entity != "" && rec.Entity != entity {
			continue
		}
		if best < 0 || e.rows[best].record.Earlier && !rec.Earlier {
			best = r
		}
	}
	return best
}
