package dataset

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
)

// The files of a dataset, below …/train_jobs/{job}/ (TRAIN-03).
const (
	TrainFile    = "dataset.jsonl"
	HeldFile     = "held_out.jsonl"
	PairsFile    = "pairs.jsonl"
	UnpairedFile = "unpaired.jsonl"
	ManifestFile = "sources.json"
)

// The sides a source is on.
const (
	SideTrain    = "train"
	SideHeld     = "held_out"
	SidePair     = "pair"
	SideUnpaired = "unpaired"
)

// Source is an event that something of a dataset was made of. It outlives the
// texts: what was learnt from an event can be told after they are gone.
type Source struct {
	EventID        int64   `json:"event_id"`
	WorseID        int64   `json:"worse_id,omitempty"` // of a pair, where it is another event
	ConversationID string  `json:"conversation_id"`
	MessageID      string  `json:"message_id"`
	Side           string  `json:"side"`
	HeldOut        bool    `json:"held_out,omitempty"` // of pairs and unpaired answers
	Weight         float64 `json:"weight"`
	Tokens         int     `json:"tokens"`
	SHA256         string  `json:"sha256"` // of its line
}

// Manifest says what a dataset was made of, and what was left out.
type Manifest struct {
	Cases    int            `json:"cases"`
	Rows     int            `json:"rows"` // trained on
	HeldOut  int            `json:"held_out"`
	Pairs    int            `json:"pairs"`
	Unpaired int            `json:"unpaired"`
	Targets  int            `json:"targets"` // different ones among the rows
	Tokens   int            `json:"tokens"`  // of all
	LeftOut  map[Reason]int `json:"left_out"`
	Redacted int            `json:"redacted"` // texts in which personal data or secrets were replaced
	Damped   int            `json:"damped"`   // events of a person in an hour with very many
	Capped   int            `json:"capped"`   // rows that weigh less, as one target or person has too much
	// Missing says why it is too little to train on; empty: it is enough.
	Missing string   `json:"missing,omitempty"`
	Sources []Source `json:"sources"`
}

// What a dataset lacks.
const (
	FewRows    = "few_rows"
	FewTargets = "few_targets" // one would weigh more than it may
	FewPeople  = "few_people"  // likewise
)

func (m *maker) manifest(cases int) {
	d := &m.d
	f := &d.Manifest
	f.Cases, f.Rows, f.HeldOut, f.Pairs, f.Unpaired = cases, len(d.Train), len(d.Held), len(d.Pairs), len(d.Unpaired)
	f.LeftOut, f.Redacted, f.Damped, f.Capped = m.left, m.redacted, m.damped, m.capped
	f.Sources = []Source{}
	add := func(s Source, line any) {
		sum := sha256.Sum256(marshal(line))
		s.SHA256 = hex.EncodeToString(sum[:])
		f.Sources = append(f.Sources, s)
		f.Tokens += s.Tokens
	}
	var targets, people []string
	for i, rows := range [][]Row{d.Train, d.Held} {
		for _, r := range rows {
			add(Source{EventID: r.EventID, ConversationID: r.ConversationID, MessageID: r.MessageID, Side: []string{SideTrain, SideHeld}[i], Weight: r.Weight, Tokens: r.Tokens}, r)
			targets, people = append(targets, strings.Join(strings.Fields(strings.ToLower(r.Target)), " ")), append(people, r.UserID)
		}
	}
	for _, p := range d.Pairs {
		add(Source{EventID: p.EventID, WorseID: p.WorseID, ConversationID: p.ConversationID, MessageID: p.MessageID, Side: SidePair, HeldOut: p.HeldBack, Weight: p.Weight, Tokens: p.Tokens}, p)
	}
	for _, u := range d.Unpaired {
		add(Source{EventID: u.EventID, ConversationID: u.ConversationID, MessageID: u.MessageID, Side: SideUnpaired, HeldOut: u.HeldBack, Weight: u.Weight, Tokens: u.Tokens}, u)
	}
	f.Targets = different(targets)
	switch {
	case len(d.Held) == 0:
		f.Missing = FewRows
	case float64(f.Targets)*m.o.TargetShare < 1:
		f.Missing = FewTargets
	case m.o.Shared && float64(different(people))*m.o.PersonShare < 1:
		f.Missing = FewPeople
	}
}

func different(list []string) int {
	slices.Sort(list)
	return len(slices.Compact(list))
}

// File is a file of a dataset.
type File struct {
	Name  string
	Bytes []byte
}

// Files are the files of a dataset, the manifest last: whoever finds it finds
// the others.
func (d Dataset) Files() []File {
	var indented bytes.Buffer
	_ = json.Indent(&indented, marshal(d.Manifest), "", "  ") // it was just made
	return []File{
		{TrainFile, lines(d.Train)}, {HeldFile, lines(d.Held)}, {PairsFile, lines(d.Pairs)}, {UnpairedFile, lines(d.Unpaired)},
		{ManifestFile, indented.Bytes()},
	}
}

func lines[T any](list []T) []byte {
	out := []byte{}
	for _, x := range list {
		out = append(out, marshal(x)...)
	}
	return out
}

// marshal is one line of JSON: texts as they are.
func marshal(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // numbers, texts and lists of them can be written
	return b.Bytes()
}
