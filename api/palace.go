package api

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"liminal/internal/palace"
)

func (s *server) palaceRoutes() {
	add(s, route("GET /v1/palace/agents", "palaceAgents", "My agents behind the capture proxy and their subagents, the newest first", scopeRead), s.palaceAgents)
	add(s, route("GET /v1/palace/agents/{agent_id}/context", "palaceContext", "The active blocks that an agent sees: of its newest history, and those that all agents see", scopeRead), s.palaceContext)
	add(s, route("GET /v1/palace/agents/{agent_id}/timeline", "palaceTimeline", "A history of an agent, block by block: its newest, or another", scopeRead), s.palaceTimeline)
	add(s, route("GET /v1/palace/lineages", "palaceLineages", "The histories of an agent, the one that grew last first: /clear, /compact and a rewind begin another", scopeRead), s.palaceLineages)
	add(s, route("GET /v1/palace/exchanges", "palaceExchanges", "Requests and their answers, the newest first", scopeRead), s.palaceExchanges)
	add(s, route("GET /v1/palace/exchanges/{id}", "palaceExchange", "One of them, with the heads of both and when what came", scopeRead), s.palaceExchange)
	s.palaceBody("request", "The body of the request, to the byte")
	s.palaceBody("response", "The body of the response, to the byte, as far as it came")
	s.palaceSentRoutes()
	add(s, route("GET /v1/palace/blocks/{id}", "palaceBlock", "A block by its UUID, with what it says", scopeRead), s.palaceBlock)
	op := route("GET /v1/palace/blocks/{id}/raw", "palaceBlockRaw", "A block as it came, with the secrets that are masked elsewhere: its JSON, or its events", scopeRead)
	addStream(s, op, s.palaceBlockRaw)
	s.answers(op, 200, "application/octet-stream", "The bytes, of the type that X-Content-Type names", &huma.Schema{Type: "string", Format: "binary"})
	add(s, route("PUT /v1/palace/blocks/{id}/tier", "setPalaceTier", "Say how long a block stays", scopeWrite), s.setPalaceTier)
	add(s, route("POST /v1/palace/blocks/{id}/erase", "erasePalaceBlock", "Erase what a block says, wherever it was sent; its row and its hash stay", scopeWrite), s.erasePalaceBlock)
	add(s, route("POST /v1/palace/lineages/{id}/erase", "erasePalaceLineage", "Erase everything that one history said", scopeWrite), s.erasePalaceLineage)
	add(s, route("POST /v1/palace/agents/{agent_id}/erase", "erasePalaceAgent", "Erase everything that an agent said, in its histories and beside them", scopeWrite), s.erasePalaceAgent)
	add(s, route("GET /v1/palace/stats", "palaceStats", "How much of what is kept, and how long the classifier takes", scopeRead), s.palaceStats)
	s.palacePolicyRoutes()
	s.palaceCostRoutes()
}

// palaceBody registers one body of exchanges.
func (s *server) palaceBody(part, does string) {
	op := route("GET /v1/palace/exchanges/{id}/"+part, "palaceExchange"+strings.ToUpper(part[:1])+part[1:], does, scopeRead)
	addStream(s, op, s.palaceBytes(part))
	s.answers(op, 200, "application/octet-stream", "The bytes, of the type that X-Content-Type names", &huma.Schema{Type: "string", Format: "binary"})
}

// PalaceAgent is an agent behind the capture proxy.
type PalaceAgent struct{ palace.Agent }

// PalaceLineage is one history of an agent.
type PalaceLineage struct{ palace.Lineage }

// PalaceExchange is one request and its answer.
type PalaceExchange struct{ palace.Exchange }

// PalaceBlock is a part of a message.
type PalaceBlock struct{ palace.Block }

// PalaceView is a history as an agent has it before itself.
type PalaceView struct {
	Agent   PalaceAgent   `json:"agent"`
	Lineage PalaceLineage `json:"lineage"`
	Blocks  []PalaceBlock `json:"blocks"`
}

func palaceView(v palace.View) PalaceView {
	out := PalaceView{Agent: PalaceAgent{v.Agent}, Lineage: PalaceLineage{v.Lineage}, Blocks: []PalaceBlock{}}
	for _, b := range v.Blocks {
		out.Blocks = append(out.Blocks, PalaceBlock{b})
	}
	return out
}

// ByAgent is the path of what belongs to an agent.
type ByAgent struct {
	Number int `path:"agent_id" minimum:"0" maximum:"1000000000" doc:"the small number of it"`
}

type palaceContextInput struct {
	ByAgent
	Scope   []string `query:"scope,explode" maxItems:"20" doc:"global, project, project:NAME, agent, tool, tool:NAME; any of them"`
	Channel []string `query:"channel,explode" maxItems:"20" doc:"any of them"`
	Tool    []string `query:"tool,explode" maxItems:"20" doc:"any of them"`
}

func (s *server) palaceContext(ctx context.Context, in *palaceContextInput) (PalaceView, error) {
	v, err := s.Palace.Active(ctx, viewerOf(ctx), in.Number, palace.BlockFilter{Scopes: in.Scope, Channels: in.Channel, Tools: in.Tool})
	return palaceView(v), err
}

type palaceTimelineInput struct {
	ByAgent
	Lineage string `query:"lineage" format:"uuid" doc:"a history of the agent; none: its newest"`
}

func (s *server) palaceTimeline(ctx context.Context, in *palaceTimelineInput) (PalaceView, error) {
	v, err := s.Palace.TimelineOf(ctx, viewerOf(ctx), in.Number, in.Lineage)
	return palaceView(v), err
}

type palaceLineagesInput struct {
	Agent string `query:"agent" format:"uuid" required:"true" doc:"the id of an agent"`
}

func (s *server) palaceLineages(ctx context.Context, in *palaceLineagesInput) (Page[PalaceLineage], error) {
	list, err := s.Palace.PalaceLineages(ctx, viewerOf(ctx), in.Agent)
	return page(list, "", func(l palace.Lineage) PalaceLineage { return PalaceLineage{l} }), err
}

type palaceExchangesInput struct {
	Paged
	Agent   string `query:"agent" format:"uuid" doc:"of an agent"`
	Lineage string `query:"lineage" format:"uuid" doc:"of a history"`
	Kind    string `query:"kind" doc:"main, subagent, title, search, compact, count or other"`
}

func (s *server) palaceExchanges(ctx context.Context, in *palaceExchangesInput) (Page[PalaceExchange], error) {
	list, next, err := s.Palace.PalaceExchanges(ctx, viewerOf(ctx), palace.ExchangeFilter{AgentID: in.Agent, LineageID: in.Lineage, Kind: palace.Kind(in.Kind)}, in.Cursor, in.Limit)
	return page(list, next, func(e palace.Exchange) PalaceExchange { return PalaceExchange{e} }), err
}

// PalaceExchangeHeads is an exchange with the heads of both, and when what came.
type PalaceExchangeHeads struct {
	PalaceExchange
	RequestHeader  map[string][]string `json:"request_header" nullable:"true" doc:"without what opens anything"`
	ResponseHeader map[string][]string `json:"response_header" nullable:"true"`
	Marks          []PalaceMark        `json:"marks" doc:"when bytes of the response came"`
	Told           bool                `json:"input_transformations_told" doc:"the backend says what it changed of the request"`
	Transformed    []PalaceTransformed `json:"input_transformations" doc:"what the backend says it changed of the request before its model read it: thinking that it left out"`
}

// PalaceTransformed is a change that a backend made of a request.
type PalaceTransformed struct{ palace.Transformation }

// PalaceMark says when bytes of a response came.
type PalaceMark struct {
	End   int64 `json:"end" doc:"the bytes before this one"`
	After int64 `json:"after_us" doc:"microseconds since the request began"`
}

func (s *server) palaceExchange(ctx context.Context, in *ByID) (out PalaceExchangeHeads, err error) {
	e, err := s.Palace.PalaceExchange(ctx, viewerOf(ctx), in.ID)
	if err != nil {
		return out, err
	}
	w, err := palace.OpenWire(e.Wire)
	out = PalaceExchangeHeads{PalaceExchange: PalaceExchange{e}, RequestHeader: w.Asked, ResponseHeader: w.Answered, Marks: []PalaceMark{}, Told: w.Transformed != nil}
	out.Transformed = each(w.Transformed, func(t palace.Transformation) PalaceTransformed { return PalaceTransformed{t} })
	for _, m := range w.Marks {
		out.Marks = append(out.Marks, PalaceMark{m.End, m.After})
	}
	return out, err
}

// palaceBytes writes one body of an exchange.
func (s *server) palaceBytes(part string) func(context.Context, *ByID) (func(http.ResponseWriter, *http.Request), error) {
	return func(ctx context.Context, in *ByID) (func(http.ResponseWriter, *http.Request), error) {
		read := s.Palace.Request
		switch part {
		case "response":
			read = s.Palace.Response
		case "sent":
			read = s.Palace.Sent
		}
		e, body, err := read(ctx, viewerOf(ctx), in.ID)
		if err != nil {
			return nil, err
		}
		w, err := palace.OpenWire(e.Wire)
		if err != nil {
			return nil, err
		}
		kind := http.Header(w.Asked).Get("Content-Type")
		if part == "response" {
			kind = http.Header(w.Answered).Get("Content-Type")
		}
		return bytesOf(kind, body), nil
	}
}

// bytesOf writes bytes that others said: whatever type they had, no browser may take
// them for a page of ours.
func bytesOf(kind string, body []byte) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "application/octet-stream")
		h.Set("Content-Disposition", "attachment")
		h.Set("X-Content-Type", kind)
		h.Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body) // the reader may have gone
	}
}

// PalaceContent is a block with what it says.
type PalaceContent struct {
	PalaceBlock
	Content    json.RawMessage     `json:"content" doc:"its JSON without the secrets that were found in it; of a stream, what its events make together; null: it was erased"`
	Places     []palace.Appearance `json:"places" doc:"the histories it stands in, the one that grew last first"`
	FrameTimes []int64             `json:"frames_after_us,omitempty" doc:"of a stream, when each of its events that says something was there: microseconds since the request began, -1 where nobody noted it"`
}

func (s *server) palaceBlock(ctx context.Context, in *ByID) (PalaceContent, error) {
	b, err := s.Palace.PalaceBlock(ctx, viewerOf(ctx), in.ID)
	if err != nil {
		return PalaceContent{}, err
	}
	places, err := s.Palace.PalaceAppearances(ctx, viewerOf(ctx), in.ID)
	out := PalaceContent{PalaceBlock: PalaceBlock{b}, Content: json.RawMessage("null"), Places: append([]palace.Appearance{}, places...)}
	if err != nil || b.ErasedAt != nil {
		return out, err
	}
	c, err := s.Palace.Content(ctx, viewerOf(ctx), b)
	if c.JSON != nil {
		out.Content = c.JSON
	}
	if err == nil {
		out.FrameTimes, err = s.Palace.FrameTimes(ctx, viewerOf(ctx), b, c)
	}
	return out, err
}

func (s *server) palaceBlockRaw(ctx context.Context, in *ByID) (func(http.ResponseWriter, *http.Request), error) {
	b, err := s.Palace.PalaceBlock(ctx, viewerOf(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	c, err := s.Palace.Content(ctx, viewerOf(ctx), b)
	if err != nil {
		return nil, err
	}
	kind, body, err := c.As(b, "raw")
	return bytesOf(kind, body), err
}

type palaceTierInput struct {
	ByID
	Body struct {
		Tier palace.Tier `json:"tier" doc:"SHORT, MEDIUM or LONG"`
	}
}

func (s *server) setPalaceTier(ctx context.Context, in *palaceTierInput) (PalaceBlock, error) {
	v := viewerOf(ctx)
	if err := s.Palace.SetPalaceTier(ctx, v, []string{in.ID}, in.Body.Tier); err != nil {
		return PalaceBlock{}, err
	}
	b, err := s.Palace.PalaceBlock(ctx, v, in.ID)
	return PalaceBlock{b}, err
}

// PalaceErasure is what was erased.
type PalaceErasure struct{ palace.Erasure }

func (s *server) erasePalaceBlock(ctx context.Context, in *ByID) (PalaceErasure, error) {
	e, err := s.Palace.EraseBlock(ctx, viewerOf(ctx), in.ID)
	return PalaceErasure{e}, err
}

func (s *server) erasePalaceLineage(ctx context.Context, in *ByID) (PalaceErasure, error) {
	e, err := s.Palace.EraseLineage(ctx, viewerOf(ctx), in.ID)
	return PalaceErasure{e}, err
}

func (s *server) erasePalaceAgent(ctx context.Context, in *ByAgent) (PalaceErasure, error) {
	e, err := s.Palace.EraseAgent(ctx, viewerOf(ctx), in.Number)
	return PalaceErasure{e}, err
}

// PalaceStats is how much of what is kept, and how long the classifier takes.
type PalaceStats struct{ palace.Stats }

func (s *server) palaceStats(ctx context.Context, _ *struct{}) (PalaceStats, error) {
	f, err := s.Palace.Stats(ctx, viewerOf(ctx))
	return PalaceStats{f}, err
}
