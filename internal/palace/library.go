package palace

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/vault"
)

// Records is what was taken in, as it is asked for. What is not there, or is
// another's, is fault.NotFound.
type Records interface {
	// PalaceAgents are the newest first.
	PalaceAgents(ctx context.Context, v identity.Viewer) ([]AgentState, error)
	// PalaceAgent is the one with a number.
	PalaceAgent(ctx context.Context, v identity.Viewer, number int) (Agent, error)
	// PalaceLineages are those of an agent, the one that grew last first.
	PalaceLineages(ctx context.Context, v identity.Viewer, agent string) ([]Lineage, error)
	PalaceLineage(ctx context.Context, v identity.Viewer, id string) (Lineage, error)
	// PalaceExchanges are the newest first.
	PalaceExchanges(ctx context.Context, v identity.Viewer, f ExchangeFilter, cursor string, limit int) (list []Exchange, next string, err error)
	PalaceExchange(ctx context.Context, v identity.Viewer, id string) (Exchange, error)
	// PalaceChunks are packed, by their hashes.
	PalaceChunks(ctx context.Context, v identity.Viewer, hashes []string) (map[string][]byte, error)
	// PalaceEdits are those of what was sent of an exchange, packed.
	PalaceEdits(ctx context.Context, v identity.Viewer, exchange string) ([]byte, error)
	// PalaceSaved is what requests of a lineage in views cost, and what they would have.
	PalaceSaved(ctx context.Context, v identity.Viewer, lineage string) (Saved, error)
	// PalaceEpochs are those of a lineage, the oldest first.
	PalaceEpochs(ctx context.Context, v identity.Viewer, lineage string) ([]Epoch, error)
	PalaceBlock(ctx context.Context, v identity.Viewer, uuid string) (Block, error)
	// PalaceAppearances are where a block stands, the lineage that grew last first.
	PalaceAppearances(ctx context.Context, v identity.Viewer, uuid string) ([]Appearance, error)
	// PalaceBlockNumbered is the one that has a display id now.
	PalaceBlockNumbered(ctx context.Context, v identity.Viewer, display int) (Block, error)
	// PalaceTimeline are the blocks of a lineage in order, put away or not.
	PalaceTimeline(ctx context.Context, v identity.Viewer, lineage string) ([]Block, error)
	// PalaceShared are the active blocks that all agents see.
	PalaceShared(ctx context.Context, v identity.Viewer) ([]Block, error)
	PalaceFigures(ctx context.Context, v identity.Viewer) (Figures, error)
	SetPalaceTier(ctx context.Context, v identity.Viewer, blocks []string, t Tier) error
	Keeper
	Ledger
	Eraser
	KeyKeeper
}

// ExchangeFilter narrows a list of exchanges; what is empty does not.
type ExchangeFilter struct {
	AgentID, LineageID string
	Kind               Kind
}

// Figures are counts of what is kept.
type Figures struct {
	Agents    int            `json:"agents"`
	Lineages  int            `json:"lineages"`
	Exchanges int            `json:"exchanges"`
	Blocks    int            `json:"blocks"`
	Active    int            `json:"active"`
	ByType    map[Type]int   `json:"by_type"`
	ByTier    map[Tier]int   `json:"by_tier"`
	Display   DisplayFigures `json:"display_ids"`
	// Bytes is what chunks take in the store, Passed what went through.
	Bytes  int64 `json:"stored_bytes"`
	Passed int64 `json:"passed_bytes"`
}

// DisplayFigures are counts of display ids.
type DisplayFigures struct {
	Used int `json:"used"`
	Most int `json:"most"`
}

// Library answers what is asked of what was taken in.
type Library struct {
	Records
	// Policies gives the policies that histories follow.
	Policies Policies
	// Grown is told of lineages whose blocks, or what is wished for them, changed; nil:
	// nobody is.
	Grown func(lineages []string)
	// Answered is told what came of asking a model; nil: nobody is.
	Answered func(Classified)
	// Now is the clock; nil: time.Now.
	Now func() time.Time
	// Rates are what models cost; nil: nobody knows.
	Rates Rates
	// Folder forgets what is erased; nil: there is none here.
	Folder  *Folder
	latency latency
}

// NewLibrary makes one. Histories follow the policy that ships.
func NewLibrary(r Records) *Library {
	return &Library{Records: &sealedRecords{Records: r}, Policies: shipped{}}
}

// OpenWith says which keys open what was sealed, before anything is asked.
func (l *Library) OpenWith(keys *vault.Ring) *Library {
	l.Records.(*sealedRecords).ring = keys
	return l
}

// Request is the body of a request, to the byte.
func (l *Library) Request(ctx context.Context, v identity.Viewer, id string) (e Exchange, body []byte, err error) {
	if e, err = l.PalaceExchange(ctx, v, id); err != nil {
		return e, nil, err
	}
	if e.Asked.Lost == LostErased {
		return e, nil, erased("request")
	}
	if e.Asked.Hash == "" || e.Asked.Lost == LostRoom {
		return e, nil, lost("request", e.Asked.Lost)
	}
	r, err := openRecipe(e.Recipe)
	if err != nil {
		return e, nil, fmt.Errorf("the request of %s: %w", id, err)
	}
	chunks, err := l.chunks(ctx, v, r.chunks())
	if err != nil {
		return e, nil, err
	}
	if body, err = r.body(chunks, e.Asked.Hash); fault.CodeOf(err) == fault.NotFound {
		return e, nil, err
	} else if err != nil {
		return e, nil, fmt.Errorf("the request of %s: %w", id, err)
	}
	return e, body, nil
}

// Response is the body of a response, to the byte, as far as it came.
func (l *Library) Response(ctx context.Context, v identity.Viewer, id string) (e Exchange, body []byte, err error) {
	if e, err = l.PalaceExchange(ctx, v, id); err != nil {
		return e, nil, err
	}
	if e.Answered.Hash == "" || e.Answered.Lost == LostRoom {
		if e.Answered.Lost != "" {
			return e, nil, lost("response", e.Answered.Lost)
		}
		return e, []byte{}, nil
	}
	body, err = l.chunk(ctx, v, e.Answered.Hash)
	return e, body, err
}

// lost is the answer where contents were not kept.
func lost(part, why string) error {
	return fault.New(fault.NotFound, "The %s passed, and its bytes were not kept (%s).", part, why).With(map[string]any{"reason": "not_kept", "why": why})
}

func (l *Library) chunk(ctx context.Context, v identity.Viewer, hash string) ([]byte, error) {
	chunks, err := l.chunks(ctx, v, []string{hash})
	if err != nil {
		return nil, err
	}
	body, ok := chunks[hash]
	if !ok {
		return nil, erased("content")
	}
	return body, nil
}

// chunksAtOnce is how many are asked for by one statement.
const chunksAtOnce = 200

// chunks are unpacked, and are what their hashes say.
func (l *Library) chunks(ctx context.Context, v identity.Viewer, hashes []string) (map[string][]byte, error) {
	out := map[string][]byte{}
	for len(hashes) > 0 {
		n := min(len(hashes), chunksAtOnce)
		found, err := l.PalaceChunks(ctx, v, hashes[:n])
		if err != nil {
			return nil, err
		}
		for hash, p := range found {
			if len(p) == 0 { // erased
				continue
			}
			body, err := unpacked(p)
			// Of one whose hash is keyed the seal says as much.
			if err == nil && !strings.HasPrefix(hash, keyedPrefix) && hashOf(body) != hash {
				err = errors.New("its hash is another")
			}
			if err != nil {
				return nil, fmt.Errorf("the chunk %s is damaged: %w", hash, err)
			}
			out[hash] = body
		}
		hashes = hashes[n:]
	}
	return out, nil
}

// Content is what a block says: as it came (its JSON, or its events), and as JSON
// without the secrets that were found in it.
type Content struct {
	Raw  []byte
	JSON json.RawMessage
}

// Content reads a block.
func (l *Library) Content(ctx context.Context, v identity.Viewer, b Block) (Content, error) {
	if b.ErasedAt != nil {
		return Content{}, erased("block")
	}
	body, err := l.chunk(ctx, v, b.Chunk)
	if err != nil {
		return Content{}, err
	}
	return contentOf(b, body)
}

func contentOf(b Block, body []byte) (c Content, err error) {
	if b.Start < 0 || b.Start+b.Size > len(body) {
		return c, fmt.Errorf("the block %s is not where it should be", b.UUID)
	}
	c.Raw = body[b.Start : b.Start+b.Size]
	c.JSON = json.RawMessage(bytes.Clone(c.Raw))
	if b.Form == FormSSE {
		if c.JSON = assembledOpenAI(c.Raw, b.Type, b.Key); c.JSON == nil {
			c.JSON = assembled(c.Raw)
		}
	}
	c.JSON = masked(c.JSON)
	return c, nil
}

// View is what an agent has before it now.
type View struct {
	Agent   Agent   `json:"agent"`
	Lineage Lineage `json:"lineage"`
	Blocks  []Block `json:"blocks"`
}

// BlockFilter narrows a view: or within one field, and between them.
type BlockFilter struct {
	Scopes   []string // global, project, project:NAME, agent, tool, tool:NAME
	Channels []string
	Tools    []string
}

// Active are the active blocks that an agent sees: those of its newest lineage, and
// those that all agents see.
func (l *Library) Active(ctx context.Context, v identity.Viewer, number int, f BlockFilter) (View, error) {
	view, err := l.Timeline(ctx, v, number)
	if err != nil {
		return view, err
	}
	shared, err := l.PalaceShared(ctx, v)
	if err != nil {
		return view, err
	}
	all, seen := append(shared, view.Blocks...), map[string]bool{}
	view.Blocks = []Block{}
	for _, b := range all {
		if b.Active && !seen[b.UUID] && f.takes(b) {
			seen[b.UUID] = true
			view.Blocks = append(view.Blocks, b)
		}
	}
	return view, nil
}

// Timeline is the newest lineage of an agent.
func (l *Library) Timeline(ctx context.Context, v identity.Viewer, number int) (view View, err error) {
	if view.Agent, err = l.PalaceAgent(ctx, v, number); err != nil {
		return view, err
	}
	list, err := l.PalaceLineages(ctx, v, view.Agent.ID)
	view.Blocks = []Block{}
	if err != nil || len(list) == 0 {
		return view, err
	}
	view.Lineage = list[0]
	blocks, err := l.PalaceTimeline(ctx, v, list[0].ID)
	view.Blocks = append(view.Blocks, blocks...)
	return view, err
}

func (f BlockFilter) takes(b Block) bool {
	return among(f.Scopes, b.Scope, b.Scope+":"+b.Project, b.Scope+":"+b.Tool) && among(f.Channels, b.Channels...) && among(f.Tools, b.Tool)
}

// among reports whether one of the values is wanted; nothing wanted is everything.
func among(wanted []string, values ...string) bool {
	for _, w := range wanted {
		for _, value := range values {
			if w == value && value != "" {
				return true
			}
		}
	}
	return len(wanted) == 0
}
