package view

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"liminal/internal/check"
	"liminal/internal/expr"
)

// KindPolicy is the kind of the artifacts that Parse reads.
const KindPolicy = "policy.palace"

// Tier is how long a block stays.
type Tier string

// The tiers, the shortest first: hours, days, for ever (003).
const (
	Short  Tier = "SHORT"
	Medium Tier = "MEDIUM"
	Long   Tier = "LONG"
)

var tiers = []Tier{Short, Medium, Long}

// Action is what becomes of a block past its time.
type Action string

// The actions. Deleted is soft: what a block says stays until room is needed.
const (
	Delete  Action = "delete"
	Archive Action = "archive"
)

// Do is what somebody wishes for a block: that an agent goes on to see it, or not.
type Do string

// The wishes, as the classifier writes them (003).
const (
	Show  Do = "++"
	Aside Do = "--"
)

// Policy is a policy.palace, ready to be followed. It is immutable.
type Policy struct {
	Schema      string `json:"$schema,omitempty"`
	Kind        string `json:"kind"`
	Status      string `json:"status,omitempty"`
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`

	Mode       Mode       `json:"mode"`
	Retention  Retention  `json:"retention"`
	Channels   []Channel  `json:"channels"`
	Rules      []Rule     `json:"rules"`
	Keep       Keep       `json:"keep"`
	Birth      Birth      `json:"birth"`
	Epoch      Opening    `json:"epoch"`
	Classifier Classifier `json:"classifier"`
	Notes      Notes      `json:"notes"`
	// Rehearsal is what is asked of changes to the policy, which its artifact knows.
	Rehearsal json.RawMessage `json:"rehearsal,omitempty"`

	channels, rules []*expr.Program
	ages            []time.Duration // by the retention rule; 0: it asks for none
}

// Retention is how long blocks stay.
type Retention struct {
	Default Tier       `json:"default"`
	Rules   []TierRule `json:"rules"`
}

// TierRule gives blocks a tier, or says what becomes of those past an age.
type TierRule struct {
	Match  Match  `json:"match"`
	Tier   Tier   `json:"tier,omitempty"`
	Action Action `json:"action,omitempty"`
}

// Match is which blocks a rule is for: those for which all holds that it says. Of
// channels one is enough.
type Match struct {
	BlockType string   `json:"block_type,omitempty"`
	Channels  []string `json:"channels,omitempty"`
	Starred   *bool    `json:"user_starred,omitempty"`
	Age       string   `json:"age,omitempty"` // older than: ">7d"
	Tier      Tier     `json:"tier,omitempty"`
	Tool      string   `json:"tool,omitempty"`
	Scope     string   `json:"scope,omitempty"`
	Project   string   `json:"project,omitempty"`
}

// Channel is a topic, and which blocks belong to it.
type Channel struct {
	Channel string `json:"channel"`
	When    string `json:"when"`
}

// Rule is what the rules wish for blocks of which a condition holds.
type Rule struct {
	ID   string `json:"id"`
	When string `json:"when"`
	Do   Do     `json:"do"`
}

// Keep is what is never set aside.
type Keep struct {
	Turns int      `json:"turns"` // the results of so many of the last answers
	Tools []string `json:"tools"` // results of these tools
}

// Birth is what is decided of a result before it is sent for the first time.
type Birth struct {
	// Duplicates says that a result that says what one above says names that one.
	Duplicates bool `json:"duplicates"`
	// CapBytes is how long a result may be; 0: as long as it is.
	CapBytes int `json:"cap_bytes"`
}

// Opening is when an epoch opens.
type Opening struct {
	MinTokens int64   `json:"min_tokens"` // set aside at least
	Margin    float64 `json:"margin"`     // what must be won beyond the price, as a share of it
	Context   float64 `json:"context"`    // of the model's window: fuller than that opens one
}

// Classifier is who wishes.
type Classifier struct {
	By   string `json:"by"`   // rules or model
	Role string `json:"role"` // what a model is asked as
	// Model names a model as graphs do: "@backend", "@backend/model", or a model of the
	// backend that policies of models name; "": the one they name.
	Model      string `json:"model,omitempty"`
	Window     int    `json:"window"`      // blocks that a model is shown
	DeadlineMS int    `json:"deadline_ms"` // how long it may take
	Remote     bool   `json:"remote"`      // it need not be on this machine
}

// Notes are what a model proposes when a history has ended. It is asked as the classifier
// says.
type Notes struct {
	Propose bool `json:"propose"`
	Most    int  `json:"most"` // of one history
}

// Who wishes.
const (
	ByPerson = "person"
	ByRules  = "rules"
	ByModel  = "model"
)

// The bounds of a policy. They are part of the kind.
const (
	mostRules    = 100
	mostChannels = 50
	mostTools    = 100
	mostTurns    = 1000
	mostWindow   = 1000
	mostDeadline = 120_000
	mostName     = 256
	mostNotes    = 20
	leastCap     = 1000
)

// Default is the policy that ships: views are computed and priced, and nothing is
// changed. Its retention rules are the specification's (PAL-18), its rules rules-1.
func Default() *Policy {
	yes := true
	p := &Policy{
		Kind: KindPolicy, Mode: Shadow,
		Retention: Retention{Default: Medium, Rules: []TierRule{
			{Match: Match{BlockType: "ToolResult"}, Tier: Short},
			{Match: Match{Channels: []string{"architecture", "design"}}, Tier: Long},
			{Match: Match{Starred: &yes}, Tier: Long},
			{Match: Match{Age: ">7d", Tier: Short}, Action: Delete},
			{Match: Match{Age: ">30d", Tier: Medium}, Action: Archive},
		}},
		Channels: []Channel{},
		Rules: []Rule{
			{ID: "duplicate", When: "duplicate", Do: Aside},
			{ID: "superseded_read", When: "tool == 'Read' and superseded and turns_ago > 2", Do: Aside},
			{ID: "superseded", When: "superseded and turns_ago >= 4", Do: Aside},
			{ID: "error", When: "error and turns_ago >= 4", Do: Aside},
			{ID: "unreferenced", When: "type == 'ToolResult' and not referenced and turns_ago >= 6", Do: Aside},
		},
		Keep:       Keep{Turns: 4, Tools: []string{"Task"}},
		Birth:      Birth{Duplicates: true},
		Epoch:      Opening{MinTokens: 20_000, Margin: 0.5, Context: 0.7},
		Classifier: Classifier{By: ByRules, Role: "palace", Window: 40, DeadlineMS: 20_000},
		Notes:      Notes{Most: 5},
	}
	p.compile() // its conditions are known to be right
	return p
}

// Parse reads a policy. What it leaves out is as it ships; what it says that is not
// known, or cannot be followed, is check.Faults, all of them at once (PAL-07, CFG-07).
func Parse(doc []byte) (*Policy, error) {
	p := Default()
	lists := struct {
		Retention struct {
			Rules json.RawMessage `json:"rules"`
		} `json:"retention"`
		Channels, Rules json.RawMessage
		Keep            struct{ Tools json.RawMessage }
	}{}
	if json.Unmarshal(doc, &lists) == nil { // a list that is given stands for itself
		for given, empty := range map[*json.RawMessage]func(){
			&lists.Retention.Rules: func() { p.Retention.Rules = nil },
			&lists.Channels:        func() { p.Channels = nil },
			&lists.Rules:           func() { p.Rules = nil },
			&lists.Keep.Tools:      func() { p.Keep.Tools = nil },
		} {
			if *given != nil {
				empty()
			}
		}
	}
	p.Kind = ""
	d := json.NewDecoder(bytes.NewReader(doc))
	d.DisallowUnknownFields()
	if err := d.Decode(p); err != nil {
		return nil, check.Faults{readable(err)}
	}
	if d.More() {
		return nil, check.Faults{{Message: "something follows the document"}}
	}
	faults := p.faults()
	if len(faults) > 0 {
		return nil, faults
	}
	return p, nil
}

// readable is a fault of the form, in words.
func readable(err error) check.Fault {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return check.Fault{
			Path:    "/" + strings.ReplaceAll(wrong.Field, ".", "/"),
			Message: fmt.Sprintf("this is a %s, which cannot be read as %s", wrong.Value, wrong.Type),
		}
	}
	if _, field, ok := strings.Cut(err.Error(), "unknown field "); ok {
		return check.Fault{Message: "a policy has no member " + field, Hint: "remove it, or look how it is written in the default"}
	}
	return check.Fault{Message: "the document is no JSON of that form: " + strings.TrimPrefix(err.Error(), "json: ")}
}

var nameOf = regexp.MustCompile(`^[a-z0-9][a-z0-9_.-]{0,63}$`)

// faults are everything that is wrong, by place. The policy is compiled as far as it
// is right.
func (p *Policy) faults() (out check.Faults) {
	add := func(path, hint, format string, args ...any) {
		out = append(out, check.Fault{Path: path, Message: fmt.Sprintf(format, args...), Hint: hint})
	}
	within := func(path string, n, least, most int) {
		if n < least || n > most {
			add(path, "", "%d is not between %d and %d", n, least, most)
		}
	}
	if p.Kind != KindPolicy {
		add("/kind", "write "+KindPolicy, "the kind is %q", p.Kind)
	}
	if !slices.Contains([]Mode{Off, Shadow, Live}, p.Mode) {
		add("/mode", "write off, shadow or view", "there is no mode %q", p.Mode)
	}
	within("/rules", len(p.Rules), 0, mostRules)
	within("/channels", len(p.Channels), 0, mostChannels)
	within("/retention/rules", len(p.Retention.Rules), 0, mostRules)
	within("/keep/turns", p.Keep.Turns, 0, mostTurns)
	within("/keep/tools", len(p.Keep.Tools), 0, mostTools)
	within("/classifier/window", p.Classifier.Window, 1, mostWindow)
	within("/notes/most", p.Notes.Most, 1, mostNotes)
	within("/classifier/deadline_ms", p.Classifier.DeadlineMS, 1, mostDeadline)
	if c := p.Birth.CapBytes; c != 0 && c < leastCap {
		add("/birth/cap_bytes", "write 0 for no cap", "a cap of %d bytes leaves no result readable; %d is the least", c, leastCap)
	}
	if p.Epoch.MinTokens < 0 {
		add("/epoch/min_tokens", "", "it is less than nothing")
	}
	if p.Epoch.Margin < 0 {
		add("/epoch/margin", "write 0.5 for half as much again", "it is less than nothing: an epoch that loses would open")
	}
	if p.Epoch.Context <= 0 || p.Epoch.Context > 1 {
		add("/epoch/context", "write 0.7 for seven tenths of the window", "%v is no share of a window", p.Epoch.Context)
	}
	if by := p.Classifier.By; by != ByRules && by != ByModel {
		add("/classifier/by", "write rules or model", "%q is nobody who classifies", by)
	}
	if !nameOf.MatchString(p.Classifier.Role) {
		add("/classifier/role", "write lower case letters, digits and - _ .", "%q is no role", p.Classifier.Role)
	}
	if m := p.Classifier.Model; len(m) > mostName || strings.ContainsFunc(m, unicode.IsControl) || strings.Contains(m, "${") {
		add("/classifier/model", "write @backend, @backend/model or the name of a model", "%.40q is no name of a model", m)
	}
	out = append(out, p.retentionFaults()...)
	return append(out, p.compile()...)
}

// Types are those of blocks.
var Types = []string{"System", "Tools", "User", "Assistant", "Thinking", "ToolUse", "ToolResult", "Media", "Unknown"}

// Scopes are those of blocks.
var Scopes = []string{"global", "project", "agent", "tool"}

func (p *Policy) retentionFaults() (out check.Faults) {
	add := func(path, hint, format string, args ...any) {
		out = append(out, check.Fault{Path: path, Message: fmt.Sprintf(format, args...), Hint: hint})
	}
	tier := func(path string, t Tier) {
		if !slices.Contains(tiers, t) {
			add(path, "write SHORT, MEDIUM or LONG", "%q is no retention tier", t)
		}
	}
	tier("/retention/default", p.Retention.Default)
	for i, r := range p.Retention.Rules {
		path := "/retention/rules/" + strconv.Itoa(i)
		if r.Tier != "" {
			tier(path+"/tier", r.Tier)
		}
		if r.Match.Tier != "" {
			tier(path+"/match/tier", r.Match.Tier)
		}
		if r.Action != "" && r.Action != Delete && r.Action != Archive {
			add(path+"/action", "write delete or archive", "there is no action %q", r.Action)
		}
		if r.Match.BlockType != "" && !slices.Contains(Types, r.Match.BlockType) {
			add(path+"/match/block_type", "write one of "+strings.Join(Types, ", "), "there is no type %q", r.Match.BlockType)
		}
		if r.Match.Scope != "" && !slices.Contains(Scopes, r.Match.Scope) {
			add(path+"/match/scope", "write one of "+strings.Join(Scopes, ", "), "there is no scope %q", r.Match.Scope)
		}
		age, err := ageOf(r.Match.Age)
		if err != nil {
			add(path+"/match/age", `write ">7d" or ">12h"`, "%v", err)
		}
		switch {
		case r.Tier != "" && r.Action != "":
			add(path, "make two rules of it", "a rule gives a tier or says what becomes of a block, not both")
		case r.Tier == "" && r.Action == "":
			add(path, "", "the rule says neither a tier nor an action")
		case r.Tier != "" && (age > 0 || r.Match.Tier != ""):
			add(path, "leave the age and the tier out of its match", "a tier does not follow from an age or a tier")
		case r.Action != "" && age == 0 && err == nil:
			add(path, `write "age": ">7d"`, "the rule would %s a block at once", r.Action)
		case r.Action != "" && r.Match.Tier == Long:
			add(path, "", "what is LONG stays for ever")
		}
	}
	return out
}

var ageForm = regexp.MustCompile(`^>\s*([0-9]{1,6})\s*([hdw])$`)

// ageOf reads ">7d"; 0 is no age.
func ageOf(s string) (time.Duration, error) {
	if s == "" {
		return 0, nil
	}
	m := ageForm.FindStringSubmatch(s)
	if m == nil {
		return 0, fmt.Errorf("%q is no age", s)
	}
	n, err := strconv.Atoi(m[1])
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%q is no age", s)
	}
	const day = 24 * time.Hour
	unit := map[string]time.Duration{"h": time.Hour, "d": day, "w": 7 * day}[m[2]]
	if time.Duration(n) > 100*365*day/unit {
		return 0, fmt.Errorf("%q is more than a hundred years", s)
	}
	return time.Duration(n) * unit, nil
}

// compile reads the conditions and the ages.
func (p *Policy) compile() (out check.Faults) {
	p.channels, p.rules, p.ages = nil, nil, nil
	read := func(path, when string) *expr.Program {
		program, err := expr.Compile(when, expr.Scope{Names: Fields})
		if wrong, ok := errors.AsType[*expr.Error](err); ok {
			out = append(out, check.Fault{
				Path: path, Hint: wrong.Hint, Kind: check.Expressions,
				Message: fmt.Sprintf("at character %d: %s", wrong.Offset+1, strings.Replace(wrong.Message, "nothing in the graph sets ", "a block has no ", 1)),
			})
		}
		return program
	}
	named := map[string]bool{}
	for i, c := range p.Channels {
		path := "/channels/" + strconv.Itoa(i)
		if !nameOf.MatchString(c.Channel) {
			out = append(out, check.Fault{Path: path + "/channel", Message: fmt.Sprintf("%q is no name of a channel", c.Channel), Hint: "write lower case letters, digits and - _ ."})
		}
		p.channels = append(p.channels, read(path+"/when", c.When))
	}
	for i, r := range p.Rules {
		path := "/rules/" + strconv.Itoa(i)
		switch {
		case !nameOf.MatchString(r.ID):
			out = append(out, check.Fault{Path: path + "/id", Message: fmt.Sprintf("%q is no name of a rule", r.ID), Hint: "write lower case letters, digits and - _ ."})
		case named[r.ID]:
			out = append(out, check.Fault{Path: path + "/id", Message: fmt.Sprintf("two rules are called %q", r.ID)})
		}
		named[r.ID] = true
		if r.Do != Show && r.Do != Aside {
			out = append(out, check.Fault{Path: path + "/do", Message: fmt.Sprintf("there is nothing %q to do", r.Do), Hint: "write ++ to show, -- to set aside"})
		}
		p.rules = append(p.rules, read(path+"/when", r.When))
	}
	for _, r := range p.Retention.Rules {
		age, err := ageOf(r.Match.Age)
		if err != nil { // retentionFaults has said so
			age = 0
		}
		p.ages = append(p.ages, age)
	}
	return out
}
