package api

import (
	"context"
	"time"

	"liminal/internal/insights"
)

func (s *server) insightRoutes() {
	add(s, route("GET /v1/insights", "insights", "How this place was used in some days, for its administrators", scopeAdmin), s.insights)
}

// Insights is how a tenant was used: counts of everybody, and of other people's
// words only what two of them asked alike (GRND-38, ISO-01).
type Insights struct {
	From      time.Time `json:"from" doc:"the first moment of the first day"`
	Until     time.Time `json:"until"`
	TimeZone  string    `json:"tz"`
	Partial   bool      `json:"partial" doc:"there were more than 200,000 turns; the oldest are not counted"`
	Turns     int       `json:"turns"`
	People    int       `json:"people" doc:"who asked something"`
	Answered  int       `json:"answered"`
	Failed    int       `json:"failed"`
	Abandoned int       `json:"abandoned" doc:"ended without an answer because their person stopped them, or asked something else while they waited"`
	Open      int       `json:"open" doc:"not over yet"`

	// The rates are of what is known, and null where nothing is.
	AbandonmentRate *float64 `json:"abandonment_rate" nullable:"true" doc:"the abandoned of those that are over"`
	ToolUseRate     *float64 `json:"tool_use_rate" nullable:"true" doc:"the share of recorded turns that called a tool"`
	ToolsPerTurn    *float64 `json:"tool_calls_per_turn" nullable:"true" doc:"calls of tools by recorded turns, each"`
	PerWorkingDay   *float64 `json:"turns_per_working_day" nullable:"true" doc:"turns asked from Monday to Friday, by each of these days"`
	Recorded        int      `json:"recorded" doc:"turns whose calls are known; a recording is kept for some time only"`

	Marks UsageMarks `json:"marks" doc:"what these figures say"`
	Tags  []TagTurns `json:"tags" doc:"what answered turns were about, as far as assistants with an audit say; empty: none does"`

	Times     Times       `json:"times"`
	Buckets   []Bucket    `json:"buckets" doc:"how many answered turns took how long"`
	Used      Use         `json:"used"`
	Days      []UsageDay  `json:"days" doc:"each day, oldest first"`
	Models    []ModelUse  `json:"models" doc:"what cost most first"`
	Users     []PersonUse `json:"users" doc:"the 50 who used most"`
	Others    *OthersUse  `json:"others,omitempty" doc:"everybody else together; missing: nobody else used anything"`
	Worded    bool        `json:"questions_shown" doc:"false: what people ask is not shown here"`
	Questions []Question  `json:"questions" doc:"the ten asked most: by two people at least, or by me. Case, spaces and the marks at the end are no difference"`
}

// UsageMarks are what figures say of whether a place is worth its while (GRND-40).
type UsageMarks struct {
	PerWorkingDay string `json:"turns_per_working_day" doc:"green from 3, yellow below 1, else empty"`
	ToolUse       string `json:"tool_use_rate" doc:"green from half, yellow below 0.3, else empty"`
	FewCalls      bool   `json:"few_tool_calls" doc:"fewer than 1.5 calls of tools a turn"`
}

// TagTurns counts turns by what they were about.
type TagTurns struct {
	Tag   string `json:"tag" enum:"data,concept,navigation,meta,other"`
	Turns int    `json:"turns"`
}

// Times are how long answered turns took, without the time they waited for
// people.
type Times struct {
	Known    int    `json:"known" doc:"of how many answered turns it is known"`
	MedianMS *int64 `json:"median_ms" nullable:"true"`
	P90MS    *int64 `json:"p90_ms" nullable:"true" doc:"nine of ten took no longer"`
}

// Bucket counts the turns that took less than a bound, and not less than the
// bound before.
type Bucket struct {
	UnderMS *int64 `json:"under_ms" nullable:"true" doc:"null: no bound"`
	Turns   int    `json:"turns"`
}

// UsageDay is one day. Its tokens and cost are those of the day of UTC with the
// same date.
type UsageDay struct {
	Date      string `json:"date" doc:"of the time zone, as in 2026-11-20"`
	Turns     int    `json:"turns"`
	People    int    `json:"people"`
	Answered  int    `json:"answered"`
	Failed    int    `json:"failed"`
	Abandoned int    `json:"abandoned"`
	Times     Times  `json:"times"`
	Used      Use    `json:"used"`
}

// PersonUse is what one person asked and used.
type PersonUse struct {
	User  Person `json:"user"`
	Turns int    `json:"turns"`
	Use
}

// OthersUse is what several people asked and used together.
type OthersUse struct {
	People int `json:"people"`
	Turns  int `json:"turns"`
	Use
}

// Question is what was asked several times.
type Question struct {
	Text   string `json:"text"`
	Times  int    `json:"times"`
	People int    `json:"people"`
}

type insightsInput struct {
	Days    int    `query:"days" enum:"7,28,90" default:"7" doc:"with today"`
	Zone    string `query:"tz" default:"UTC" maxLength:"64" doc:"whose days, as in Europe/Berlin"`
	Surface string `query:"surface" maxLength:"64" doc:"the path of an assistant with a page of its own: its turns alone, and what they used, as far as they are audited"`
}

func (s *server) insights(ctx context.Context, in *insightsInput) (Insights, error) {
	r, err := s.Insights.Read(ctx, viewerOf(ctx), insights.Filter{Days: in.Days, Zone: in.Zone, Surface: in.Surface})
	if err != nil {
		return Insights{}, err
	}
	out := Insights{
		From: r.From.UTC(), Until: r.Until.UTC(), TimeZone: r.Zone, Partial: r.Partial,
		Turns: r.Turns, People: r.People, Answered: r.Answered, Failed: r.Failed, Abandoned: r.Abandoned, Open: r.Open, Recorded: r.Recorded,
		AbandonmentRate: ratio(r.Abandoned, r.Turns-r.Open), ToolUseRate: ratio(r.WithTools, r.Recorded),
		ToolsPerTurn: ratio(r.ToolCalls, r.Recorded), PerWorkingDay: ratio(r.WorkingTurns, r.WorkingDays),
		Tags:  each(r.Tags, func(t insights.TagTurns) TagTurns { return TagTurns(t) }),
		Marks: UsageMarks(r.Marks()),
		Times: timesView(r.Times), Used: useView(r.Used), Worded: r.Worded,
		Buckets: each(r.Buckets, func(b insights.Bucket) Bucket { return Bucket{bound(b.Under), b.Turns} }),
		Days:    each(r.Days, dayView),
		Models:  each(r.Models, func(m insights.ModelUse) ModelUse { return ModelUse{m.Model, useView(m.Use)} }),
		Questions: each(r.Questions, func(q insights.Question) Question {
			return Question{q.Text, q.Times, q.People}
		}),
	}
	by := names{desk: s.Proposals}
	out.Users = each(r.Named, func(p insights.Person) PersonUse {
		return PersonUse{*by.of(ctx, p.UserID).V, p.Turns, useView(p.Use)}
	})
	if r.Others > 0 {
		out.Others = &OthersUse{r.Others, r.Rest.Turns, useView(r.Rest.Use)}
	}
	return out, nil
}

func dayView(d insights.Day) UsageDay {
	return UsageDay{d.Date, d.Turns, d.People, d.Answered, d.Failed, d.Abandoned, timesView(d.Times), useView(d.Use)}
}

func timesView(t insights.Times) Times {
	if t.Known == 0 {
		return Times{}
	}
	median, p90 := t.Median.Milliseconds(), t.P90.Milliseconds()
	return Times{t.Known, &median, &p90}
}

// bound is a bucket's; null for none.
func bound(d time.Duration) *int64 {
	if d == 0 {
		return nil
	}
	ms := d.Milliseconds()
	return &ms
}

// ratio is null where there is nothing to divide by.
func ratio(part, whole int) *float64 {
	if whole == 0 {
		return nil
	}
	r := float64(part) / float64(whole)
	return &r
}
