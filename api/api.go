// Package api is the HTTP surface: JSON over the control plane, SSE and
// WebSocket for what runs, one file a noun. Files that belong together begin
// alike: auth_ is who somebody is, assist_ the assistant's dialect of a turn,
// run_ what is known of a run, change_ proposed changes, http_ what every
// request passes, ws_ the socket.
//
// Handlers are thin: they read a request, call a port declared in ports.go on
// behalf of the viewer of the session, and shape the answer. Who asks comes
// from the bearer token or the access key only, never from another header or a
// body (API-09). Every
// answer is in the envelope (API-01, API-02) and every error leaves by the one
// table in http_fault.go.
//
// It may import the nouns; it knows no database, no Temporal and no worker.
package api

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"liminal/internal/authserver"
	"liminal/internal/insights"
	"liminal/internal/knowledge"
	"liminal/internal/oauth"
	"liminal/internal/origin"
	"liminal/internal/palace"
	"liminal/internal/quota"
	"liminal/internal/sharing"
	"liminal/internal/stream"
	"liminal/internal/telemetry"
	"liminal/internal/tool"
	"liminal/internal/vault"
)

// Options is everything the API stands on, by surface. All fields are required
// but those marked optional.
type Options struct {
	IdentityOptions
	ChatOptions
	BehaviourOptions
	KnowledgeOptions
	LearningOptions
	QuotaOptions
	SpeechOptions
	SiteOptions
	TelemetryOptions

	Redacted  bool             // what the calls of a run were given and gave is shown redacted, to whose run it is too
	Now       func() time.Time // optional
	deadlines deadlines        // of tests; else defaultDeadlines
}

// IdentityOptions is who people are. *identity.Accounts is all but the last three.
type IdentityOptions struct {
	SignIns   SignIns
	Devices   Devices
	Passwords Passwords
	People    People
	// Administration is what administrators do to people's accounts.
	Administration Administration
	Keys           AccessKeys          // optional: keys for programs
	Factors        Factors             // optional: second factors (AUTH-12)
	Elsewhere      Elsewhere           // optional: accounts elsewhere; with Providers (AUTH-16)
	Grants         Grants              // optional: keys of programs that sign their person in; with Clients
	Clients        *authserver.Clients // optional: those programs
	Providers      *oauth.Providers    // optional: where people may sign in with them
	WebhookMail    WebhookMail
	SetupWord      string // optional: what the first account asks for that is made from elsewhere; empty: nothing
}

// ChatOptions is conversations, their turns and all other runs.
type ChatOptions struct {
	Engine        Engine
	Conversations Conversations
	Messages      Messages
	Runs          Runs
	Interrupts    Interrupts
	Continuations Continuations
	Items         Items
	Log           stream.Log
	Preferences   Preferences
	Insights      *insights.Reader
	// Configured is optional: nil, or an error of the reason NotConfigured while
	// no model can answer, and then turns are refused with it (OPS-08).
	Configured func() error
}

// BehaviourOptions is what runs follow, and how it is changed.
// *artifacts.Library is the first two, *changes.Desk the two after them.
type BehaviourOptions struct {
	Artifacts  ArtifactStore
	Shapes     Shapes
	Proposals  Proposals
	Decisions  Decisions
	Recordings Recordings // optional: nil: no run can be rehearsed

	DataSources DataSources // optional: nil: there are none
	Surfaces    Surfaces    // optional: nil: there are none
	// SurfaceTurns counts and keeps what turns of Surfaces leave; with Surfaces.
	SurfaceTurns SurfaceTurns
	Connections  Connections // optional: nil: nobody connects an account elsewhere
	Webhooks     Webhooks
	Palace       *palace.Library // what is known of agents behind the capture proxy
}

// KnowledgeOptions is files, documents and what is found in them.
type KnowledgeOptions struct {
	Files     Files
	Contexts  Contexts
	Sources   Sources // optional: nil watches no folders
	Documents Documents
	Titles    knowledge.DocumentTitles
	Sets      knowledge.Sets
	Chunks    Chunks
	Shares    sharing.Shares
	Finder    knowledge.ContextFinder
}

// LearningOptions is what is learnt from what people say of answers. The store
// is the first four, and Trainings.
type LearningOptions struct {
	Consents   Consents
	Lessons    Lessons
	Situations Situations
	Uses       AdapterUses
	Weights    Weights // optional: nil: none are kept here
	Learner    Learner // optional: nil: nothing is learnt here
	Trainings  Trainings
	Trainer    Trainer // optional: nil: nothing is trained here
	// LearningChanged is optional: it is told whose answers may follow something
	// else from here on.
	LearningChanged func(ctx context.Context, userID string)
}

// QuotaOptions bounds what people may use.
type QuotaOptions struct {
	Limits  *quota.Limits
	Once    *quota.Once
	Plans   *quota.PlanTable // optional: what each person may use; nil: the plans as they ship
	Budgets *quota.Budgets   // optional: what model calls used; nil: nobody counts
	Intake  quota.Intake     // optional: what one person may bring in; what is zero is as their plan says
}

// SpeechOptions is who listens and speaks; nil: nobody does, and what needs them
// is refused as not configured.
type SpeechOptions struct {
	Transcriber Transcriber
	Speaker     Speaker
}

// SiteOptions is what is told of the installation, and how it is reached.
type SiteOptions struct {
	Version  string
	Model    ModelInfo // of the settings
	Backends Backends
	// Environment is what administrators are shown of the backend of the settings.
	Environment EnvironmentBackend
	WebSearch   bool           // a search provider is set up
	Temporal    *TemporalUI    // optional: where runs can be looked at
	PublicURL   string         // optional: as people reach us; https makes cookies Secure
	Pages       *origin.Policy // optional: by which names, and to which pages; nil: any name, the pages of its own and of PublicURL
	Client      http.Handler   // optional: everything that is not the API
	Sealed      *vault.Vault   // optional: what clients hold for us between two calls; nil: it opens until the program ends
}

// TelemetryOptions is where it is told how the API fares.
type TelemetryOptions struct {
	Checks   map[string]func(context.Context) error // optional: what /healthz asks
	Logger   *slog.Logger                           // optional
	Metrics  *telemetry.Metrics                     // optional
	Traces   *telemetry.Traces                      // optional
	Vitals   *telemetry.Vitals                      // optional: what /healthz and /readyz ask; nil: Checks
	Payloads float64                                // share of requests, 0 to 1, whose bodies are logged at debug level
}

// ModelInfo says which model answers.
type ModelInfo struct {
	Name       string `json:"name"`
	Generative bool   `json:"generative" doc:"false: answers are quoted from documents and tool results; nothing is generated"`
}

// TemporalUI is the web UI of the workflow engine.
type TemporalUI struct {
	Base      string `json:"base"`
	Namespace string `json:"namespace"`
}

// server is the API with its routes.
type server struct {
	Options
	mux         *http.ServeMux
	huma        huma.API
	tail        tail
	keepAlive   keepAlive
	errorLimits errorLimits
	large       *tool.Slots // of people whose bodies are large
	mcp         *mcpServer
	abandoned   time.Duration // how long a run goes on that nobody reads
}

// New returns the API as one handler.
func New(o Options) http.Handler { return newServer(o).handler() }

func newServer(o Options) *server {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Pages == nil {
		o.Pages = origin.New(origin.Options{URLs: []string{o.PublicURL}, Hosts: []string{"*"}})
	}
	if o.deadlines == (deadlines{}) {
		o.deadlines = defaultDeadlines
	}
	s := &server{
		Options: o, mux: http.NewServeMux(), keepAlive: defaultKeepAlive, abandoned: defaultAbandoned, large: tool.NewSlots(largeAtOnce()),
		tail: tail{log: o.Log, runs: o.Runs, interrupts: o.Interrupts, messages: o.Messages, first: firstLook, most: mostLook},
	}
	s.huma = newHuma(s.mux, o.Version)
	s.routes()
	return s
}

// routes is the table of contents; each noun's file holds its part.
func (s *server) routes() {
	s.accountRoutes()
	s.sessionRoutes()
	s.keyRoutes()
	s.mailRoutes()
	s.settingsRoutes()
	s.userRoutes()
	s.planRoutes()
	s.factorRoutes()
	s.oauthRoutes()
	s.chatRoutes()
	s.interruptRoutes()
	s.conversationRoutes()
	s.runRoutes()
	s.fileRoutes()
	s.audioRoutes()
	s.contextRoutes()
	s.documentRoutes()
	s.setRoutes()
	s.shareRoutes()
	s.usageRoutes()
	s.insightRoutes()
	s.artifactRoutes()
	s.changeRoutes()
	s.toolRoutes()
	s.assistRoutes()
	s.groundedRoutes()
	s.turnAuditRoutes()
	s.surfaceSessionRoutes()
	s.openaiRoutes()
	s.anthropicRoutes()
	s.responsesRoutes()
	s.langgraphRoutes()
	s.aguiRoutes()
	s.mcpRoutes()
	s.mcpSignInRoutes()
	s.preferenceRoutes()
	s.learningRoutes()
	s.adapterRoutes()
	s.trainingRoutes()
	s.clusterRoutes()
	s.backendRoutes()
	s.sourceRoutes()
	s.connectionRoutes()
	s.webhookRoutes()
	s.palaceRoutes()
	s.aboutRoutes()
	s.openAPIRoutes()
}

// handler puts what holds for every request around the routes.
func (s *server) handler() http.Handler {
	for _, path := range apiPaths {
		s.mux.HandleFunc(path, s.unknown)
	}
	if s.Client != nil {
		s.mux.Handle("/", s.Client)
	} else {
		s.mux.HandleFunc("/", s.unknown)
	}
	return s.identified(s.measured(s.recovered(secured(s.addressed(s.bounded(s.mux))))))
}
