package builtin

import (
	"context"
	"os"
	"time"

	"liminal/artifacts"
	"liminal/internal/architect"
	"liminal/internal/changes"
	"liminal/internal/chat"
	"liminal/internal/connect"
	"liminal/internal/data"
	"liminal/internal/files"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/mcp"
	"liminal/internal/model"
	"liminal/internal/quota"
	"liminal/internal/safety"
	"liminal/internal/speech"
	"liminal/internal/tool"
	"liminal/internal/webaccess"
)

// Parts is what the built-in tools need. A part that is nil takes the tools
// that need it out of the list.
type Parts struct {
	Model   model.Model
	History History // nil: models see no earlier messages
	// Memories, with History, keeps summaries of conversations; nil: what does
	// not fit is dropped.
	Memories  Memories
	Search    Searcher
	Rerank    Reranker // nil: passages stay in the order they were found in
	Progress  Progress // tells how far documents are on their way in
	Intake    Intake   // with Files: reads documents in
	Titles    Titles
	Sets      Sets // with Titles: documents by the sets they are in
	Files     Files
	Plans     *quota.PlanTable // how much a person may keep; nil: as the plans ship
	Catalog   Catalog
	Desk      Desk               // moves proposed changes on
	Web       Web                // reads pages of the web
	WebSearch webaccess.Provider // searches the web
	// Transcriber and Speaker, each with Files, make text of recordings and
	// recordings of texts; Voices tells in whose voice, nil: in the server's own.
	Transcriber Transcriber
	Speaker     Speaker
	Voices      Voices
	// Sources, with People, reads the sources of tools with via.query; Secrets is
	// for those with via.http, which ask Servers.
	Sources Sources
	People  SourcePeople
	Secrets SourceSecrets
	Servers Servers
	// Connections are the accounts that people let tools with via.http act with.
	Connections Connections
	// MCP calls tools of MCP servers, and MCPImport proposes them.
	MCP       MCPClient
	MCPImport MCPImporter
	// MaxDecode is how long one answer may be written for, by plan, however much
	// of it comes (STREAM-09); nil or 0: as long as the call itself may take.
	MaxDecode func(plan string) time.Duration
	// Silence is how long a model may say nothing, before its first word and
	// between two; 0: as long as the call itself may take.
	Silence time.Duration
	// MaxTokens is how many tokens an answer may have, whatever its request says;
	// 0: as many as that.
	MaxTokens int
	Architect Architect // reads recorded runs and proposes changes (CFG-13)
	// Learning makes adapters of their own for people out of what they say of
	// answers (CLUS-01).
	Learning Learning
	// Training trains adapters of people's own (TRAIN-08).
	Training Training
	// Palace looks after what the capture proxy kept of people's agents.
	Palace Palace
	// Safety judges answers before anybody sees them (SAFE-01, SAFE-09); nil:
	// they go out as they are.
	Safety safety.Holder
	// Feedback, with History, keeps what people say of answers in passing; nil:
	// only what they say on purpose is kept (PREF-02).
	Feedback Feedback
}

// History reads what was said before; chat.Messages is one.
type History interface {
	History(ctx context.Context, v identity.Viewer, conversationID string, upto, limit int) ([]chat.Message, error)
}

// Searcher finds passages; *knowledge.Library is one.
type Searcher interface {
	Search(ctx context.Context, v identity.Viewer, q knowledge.Question) (knowledge.Found, error)
	// Gather reads documents that are named.
	Gather(ctx context.Context, v identity.Viewer, n knowledge.Need) (knowledge.Gathered, error)
}

// Progress tells which of some documents are not ready; *knowledge.Library is
// one.
type Progress interface {
	Progress(ctx context.Context, v identity.Viewer, documentIDs []string) ([]knowledge.Unread, error)
}

// RerankTool is the name of a tool that, when it is registered, orders what was
// found: {question, passages: [text]} → {scores: [number]}, larger is better.
const RerankTool = "rag.rerank_v1"

// Reranker scores passages for a question again, one score each; larger is
// better (RAG-12).
type Reranker func(ctx context.Context, c *tool.Call, question string, passages []string) ([]float64, error)

// Intake reads documents in, in steps that may be run again;
// *knowledge.Library is one.
type Intake interface {
	Extraction
	Indexing
	Fail(ctx context.Context, v identity.Viewer, documentID string, cause error) (knowledge.Document, error)
}

// Extraction makes a text of a document's file.
type Extraction interface {
	Read(ctx context.Context, v identity.Viewer, documentID, runID string, open knowledge.Opener) (knowledge.Document, error)
	Extract(ctx context.Context, v identity.Viewer, documentID, runID string, open knowledge.Opener) (knowledge.Document, knowledge.Outcome, error)
	Accept(ctx context.Context, v identity.Viewer, documentID, title, text string, markdown bool) (knowledge.Document, error)
	Pass(ctx context.Context, v identity.Viewer, documentID string) (knowledge.Document, error)
	Clean(ctx context.Context, v identity.Viewer, documentID string) (knowledge.Document, error)
}

// Indexing makes a document's text searchable, batch by batch.
type Indexing interface {
	Cut(ctx context.Context, v identity.Viewer, documentID string) (knowledge.Document, error)
	Spans(chunks int) []knowledge.Span
	Embed(ctx context.Context, v identity.Viewer, documentID string, s knowledge.Span) (knowledge.VectorBatch, error)
	IndexBatch(ctx context.Context, v identity.Viewer, documentID string, p knowledge.VectorBatch) (done, total int, err error)
	Store(ctx context.Context, v identity.Viewer, documentID string, progress func(done, total int)) (knowledge.Document, error)
}

// Web reads pages of the web; *webaccess.Client is one.
type Web interface {
	Fetch(ctx context.Context, address string) (webaccess.Page, error)
}

// Servers are asked by tools with via.http; *webaccess.Client is one.
type Servers interface {
	Ask(ctx context.Context, r webaccess.Request) (webaccess.Reply, error)
}

// Transcriber makes text of recordings; *speech.Transcriber is one.
type Transcriber interface {
	Transcribe(ctx context.Context, r speech.Recording) (speech.Transcript, error)
}

// Speaker speaks texts; *speech.Speaker is one.
type Speaker interface {
	Speak(ctx context.Context, l speech.Line) (speech.Sound, error)
}

// Voices tells which voice a person chose; "": none.
type Voices interface {
	VoiceOf(ctx context.Context, v identity.Viewer) (string, error)
}

// Sources reads other people's databases; *data.Desk is one.
type Sources interface {
	Ask(ctx context.Context, s data.Source, who data.Person, q data.Query) (map[string]any, error)
}

// SourcePeople tells by what a source knows a person.
type SourcePeople interface {
	KnownAs(ctx context.Context, v identity.Viewer, m data.Match) (string, error)
}

// SourceSecrets gives the secrets that artifacts name; NotFound for one that is
// not set.
type SourceSecrets interface {
	Secret(ctx context.Context, name string) (string, error)
}

// Connections gives what a request goes along with that is made with an account of
// the call's person elsewhere; *connect.Desk is one.
type Connections interface {
	Access(ctx context.Context, v identity.Viewer, name, at string) (connect.Access, error)
	Renew(ctx context.Context, v identity.Viewer, name string, old connect.Access) (connect.Access, error)
	// Refuse is the error for an account that the server takes no more.
	Refuse(ctx context.Context, v identity.Viewer, name string, old connect.Access) error
}

// MCPClient calls tools of MCP servers; *mcp.Client is one.
type MCPClient interface {
	Call(ctx context.Context, c mcp.Call) (map[string]any, error)
}

// MCPImporter proposes tools of MCP servers; *mcp.Importer is one.
type MCPImporter interface {
	Import(ctx context.Context, v identity.Viewer, server string, only []string) (mcp.Imported, error)
	// Drift proposes what a server says now of a tool that was approved otherwise.
	Drift(ctx context.Context, approved tool.Spec, now mcp.Tool)
}

// Files is each person's own folder; *files.Roots is one.
type Files interface {
	List(ctx context.Context, v identity.Viewer, cursor string, limit int) ([]files.File, string, error)
	File(ctx context.Context, v identity.Viewer, path string) (files.File, error)
	Open(ctx context.Context, v identity.Viewer, path string) (*os.File, error)
	Dir(ctx context.Context, v identity.Viewer, path string, limit int) (list []files.Entry, more bool, err error)
	Walk(ctx context.Context, v identity.Viewer, path string, recursive bool) ([]files.Found, error)
	Put(ctx context.Context, v identity.Viewer, path string, body []byte, b files.Bounds) (f files.File, created bool, err error)
}

// Catalog reads artifacts; *artifacts.Library is one.
type Catalog interface {
	Tools(ctx context.Context, v identity.Viewer, names ...string) (map[string]artifacts.Bound, error)
	Get(ctx context.Context, v identity.Viewer, id string) (artifacts.Artifact, error)
	Named(ctx context.Context, v identity.Viewer, kind, name string) (artifacts.Artifact, error)
	List(ctx context.Context, v identity.Viewer, f artifacts.Filter) ([]artifacts.Artifact, string, error)
}

// Architect counts what happened and hands in changes to it, which people
// decide; *architect.Architect is one.
type Architect interface {
	Figures(ctx context.Context, since time.Time) (architect.Figures, error)
	Brief(ctx context.Context, since time.Time) (architect.Brief, error)
	Advise(ctx context.Context, f architect.Figures) (architect.Advice, error)
	Propose(ctx context.Context, b architect.Batch) (architect.Handed, error)
}

// Desk makes the steps of proposed changes between two acts of people;
// *changes.Desk is one.
type Desk interface {
	StepCheck(ctx context.Context, id int64) (changes.Checked, error)
	StepRehearse(ctx context.Context, id int64) (changes.Rehearsed, error)
	StepExpire(ctx context.Context, id int64, s changes.Stage) (changes.Status, error)
	StepWatch(ctx context.Context, id int64) (changes.Looked, error)
}

var (
	_ Desk      = (*changes.Desk)(nil)
	_ Files     = (*files.Roots)(nil)
	_ Catalog   = (*artifacts.Library)(nil)
	_ Web       = (*webaccess.Client)(nil)
	_ Searcher  = (*knowledge.Library)(nil)
	_ Intake    = (*knowledge.Library)(nil)
	_ Architect = (*architect.Architect)(nil)
)
