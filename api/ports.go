package api

import (
	"context"
	"encoding/json"
	"io"
	"net/url"
	"os"
	"time"

	"liminal/artifacts"
	"liminal/internal/changes"
	"liminal/internal/chat"
	"liminal/internal/files"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/knowledge/extract"
	"liminal/internal/learning"
	"liminal/internal/lora/train"
	"liminal/internal/quota"
	"liminal/internal/run"
	"liminal/internal/speech"
	"liminal/schemas"
)

// Engine starts, answers and cancels runs, and looks into them.
type Engine interface {
	Chat(ctx context.Context, v identity.Viewer, t chat.NewTurn) (chat.Accepted, error)
	Answer(ctx context.Context, v identity.Viewer, interruptID string, a run.Answer) (run.Interrupt, error)
	// Cancel stops the run of a request id or a run id.
	Cancel(ctx context.Context, v identity.Viewer, id string) (run.Run, error)
	Ingest(ctx context.Context, v identity.Viewer, documentID string) (run.Run, error)
	RunTool(ctx context.Context, v identity.Viewer, tool string, input map[string]any, requestID string) (run.Run, error)
	RunWorkflow(ctx context.Context, v identity.Viewer, artifact string, input, vars map[string]any, requestID string) (run.Run, error)
	// State is where a run that is under way stands, as JSON: its pins, its
	// trace so far, and what is pending. It may take as long as ctx lets it.
	State(ctx context.Context, v identity.Viewer, runID string) (json.RawMessage, error)
}

// SignIns signs people up and in.
type SignIns interface {
	SignUp(ctx context.Context, n identity.NewAccount, d identity.Device) (identity.SignIn, error)
	LogIn(ctx context.Context, try identity.SignInTry, d identity.Device) (identity.SignIn, error)
	Refresh(ctx context.Context, token string) (identity.SignIn, error)
	LogOut(ctx context.Context, access, refresh string) error
	Authenticate(ctx context.Context, bearer string) (identity.Viewer, error)
	// AuthenticateAt is Authenticate where keys of an audience are taken as well.
	AuthenticateAt(ctx context.Context, audience, bearer string) (identity.Viewer, error)
	Who(ctx context.Context, v identity.Viewer) (identity.User, error)
	Door(ctx context.Context) (identity.Door, error)
	// Welcomes refuses a stranger while nobody is here yet.
	Welcomes(ctx context.Context, stranger bool) error
}

// Factors keeps people's second factors.
type Factors interface {
	FactorState(ctx context.Context, v identity.Viewer) (identity.FactorState, error)
	EnrolFactor(ctx context.Context, v identity.Viewer) (identity.Enrolment, error)
	ProveSession(ctx context.Context, v identity.Viewer, p identity.Proof, d identity.Device) (identity.Proved, error)
	ProveTicket(ctx context.Context, ticket string, p identity.Proof, d identity.Device) (identity.Proved, error)
	RenewRecovery(ctx context.Context, v identity.Viewer, p identity.Proof) ([]string, error)
	DisableFactor(ctx context.Context, v identity.Viewer, password string, p identity.Proof) error
}

// Elsewhere finds the accounts of people whom a provider has vouched for.
type Elsewhere interface {
	LogInElsewhere(ctx context.Context, e identity.External, d identity.Device) (identity.SignIn, error)
	Link(ctx context.Context, v identity.Viewer, e identity.External) error
	Links(ctx context.Context, v identity.Viewer) ([]identity.Link, error)
	Unlink(ctx context.Context, v identity.Viewer, provider string) error
}

// Devices are a person's open sign-ins.
type Devices interface {
	Sessions(ctx context.Context, v identity.Viewer) (list []identity.Session, own string, err error)
	EndSession(ctx context.Context, v identity.Viewer, familyID string) error
	EndOtherSessions(ctx context.Context, v identity.Viewer) error
	// Mark names the session of a viewer for what must end with it, and with the
	// password it was made under; Marked says that it has, if it has.
	Mark(ctx context.Context, v identity.Viewer) (string, error)
	Marked(ctx context.Context, userID, mark string) error
	KeepOneSession(ctx context.Context, v identity.Viewer, single bool) (identity.User, error)
}

// AccessKeys are a person's keys for programs.
type AccessKeys interface {
	CreateKey(ctx context.Context, v identity.Viewer, n identity.NewKey) (k identity.Key, text string, err error)
	ListKeys(ctx context.Context, v identity.Viewer) ([]identity.Key, error)
	RevokeKey(ctx context.Context, v identity.Viewer, keyID string) error
}

// Grants are the keys of programs that sign their person in.
type Grants interface {
	Consent(ctx context.Context, v identity.Viewer, c identity.Consent) (code string, err error)
	Redeem(ctx context.Context, r identity.Redemption) (identity.Tokens, error)
	Renew(ctx context.Context, refresh, client string) (identity.Tokens, error)
	RevokeToken(ctx context.Context, text string) error
}

// Transcriber makes text of recordings; *speech.Transcriber is one.
type Transcriber interface {
	Transcribe(ctx context.Context, r speech.Recording) (speech.Transcript, error)
}

// Speaker speaks texts; *speech.Speaker is one.
type Speaker interface {
	Speak(ctx context.Context, l speech.Line) (speech.Sound, error)
}

// Passwords changes them, and confirms addresses. What requests a mail tells
// nothing, neither by its answer nor by its time (AUTH-08).
type Passwords interface {
	RequestReset(ctx context.Context, email string)
	CompleteReset(ctx context.Context, token, password string) error
	RequestConfirmation(ctx context.Context, email string)
	ConfirmEmail(ctx context.Context, token string) error
	ChangePassword(ctx context.Context, v identity.Viewer, old, password string) error
}

// People keeps accounts and what they choose.
type People interface {
	Users(ctx context.Context, v identity.Viewer, f identity.UserFilter) ([]identity.User, string, error)
	ChangeUser(ctx context.Context, v identity.Viewer, userID string, c identity.UserChange) (identity.User, error)
	DeleteAccount(ctx context.Context, v identity.Viewer, password string) error
	Settings(ctx context.Context, v identity.Viewer) (identity.Settings, error)
	ChangeSettings(ctx context.Context, v identity.Viewer, c identity.SettingsChange) (identity.Settings, error)
}

// Administration is what administrators see of people's accounts, and do to
// them. Others are Forbidden before anything is looked for.
type Administration interface {
	UserOf(ctx context.Context, v identity.Viewer, userID string) (identity.User, error)
	Figures(ctx context.Context, v identity.Viewer, ids []string) (map[string]identity.Figures, error)
	SignOutUser(ctx context.Context, v identity.Viewer, userID string) (int, error)
	ClearFactor(ctx context.Context, v identity.Viewer, userID string) error
	Audit(ctx context.Context, v identity.Viewer, f identity.AuditFilter) ([]identity.AuditEvent, string, error)
}

// Conversations keeps threads.
type Conversations interface{ chat.Conversations }

// Messages reads what was said, and finds it.
type Messages interface {
	chat.Messages
	chat.MessageHeads
	chat.MessageSearch
}

// Runs reads runs.
type Runs interface {
	Run(ctx context.Context, v identity.Viewer, id string) (run.Run, error)
	ListRuns(ctx context.Context, v identity.Viewer, f run.Filter) ([]run.Run, string, error)
}

// Interrupts reads questions; answering them is the engine's.
type Interrupts interface {
	Interrupt(ctx context.Context, v identity.Viewer, id string) (run.Interrupt, error)
	PendingInterrupts(ctx context.Context, v identity.Viewer, conversationID string) ([]run.Interrupt, error)
	// RunInterrupts are what a run of the viewer's asked, oldest first.
	RunInterrupts(ctx context.Context, v identity.Viewer, runID string) ([]run.Interrupt, error)
}

// Proposals are changes that wait, and what is known of them.
type Proposals interface {
	Propose(ctx context.Context, v identity.Viewer, p changes.Proposal) (changes.Patch, error)
	Try(ctx context.Context, v identity.Viewer, p changes.Proposal) (changes.Tried, error)
	Get(ctx context.Context, v identity.Viewer, id int64) (changes.View, error)
	List(ctx context.Context, v identity.Viewer, f changes.Filter) ([]changes.Patch, string, error)
	Rehearse(ctx context.Context, v identity.Viewer, id int64, r changes.Replay) (changes.Patch, error)
	Watch(ctx context.Context, v identity.Viewer, id int64) (changes.Watched, error)
	Names
}

// Names tells what an account is called.
type Names interface {
	Name(ctx context.Context, userID string) string
}

// Decisions are the acts of people on a patch.
type Decisions interface {
	Decide(ctx context.Context, v identity.Viewer, id int64, c changes.Decision) (changes.Patch, error)
	Apply(ctx context.Context, v identity.Viewer, id int64, t changes.RolloutPlan) (changes.Patch, error)
	RollBack(ctx context.Context, v identity.Viewer, id int64, reason string) (changes.Patch, error)
	Promote(ctx context.Context, v identity.Viewer, id int64) (changes.Patch, error)
	Withdraw(ctx context.Context, v identity.Viewer, id int64, reason string) (changes.Patch, error)
	Rebase(ctx context.Context, v identity.Viewer, id int64) (changes.Patch, error)
}

// Recordings reads what a run left behind for rehearsals: the viewer's own, or
// any for the system.
type Recordings interface {
	Recording(ctx context.Context, v identity.Viewer, runID string) (run.Recording, error)
}

// Shapes are the kinds of artifacts, and what earlier versions were.
type Shapes interface {
	Kinds() *schemas.Registry
	At(ctx context.Context, v identity.Viewer, id string, version int) (artifacts.Artifact, error)
	Rollback(ctx context.Context, v identity.Viewer, id string, version int, note string) (artifacts.Artifact, error)
	// ToolsOf finds the tools a workflow document may call.
	ToolsOf(ctx context.Context, v identity.Viewer, doc json.RawMessage) (map[string]artifacts.Bound, error)
	// Specs are the tools the viewer may use, by name.
	Specs(ctx context.Context, v identity.Viewer) ([]artifacts.Bound, error)
}

// ArtifactStore is the artifacts themselves.
type ArtifactStore interface {
	Create(ctx context.Context, v identity.Viewer, d artifacts.Draft) (artifacts.Artifact, error)
	Get(ctx context.Context, v identity.Viewer, id string) (artifacts.Artifact, error)
	Workflow(ctx context.Context, v identity.Viewer, idOrName string) (artifacts.Artifact, error)
	List(ctx context.Context, v identity.Viewer, f artifacts.Filter) ([]artifacts.Artifact, string, error)
	Versions(ctx context.Context, v identity.Viewer, id string) ([]artifacts.Version, error)
	Patch(ctx context.Context, v identity.Viewer, id string, c artifacts.Change) (artifacts.Artifact, error)
	Check(ctx context.Context, v identity.Viewer, kind string, doc json.RawMessage) error
	// Warnings tells what a document that passes Check hardly means.
	Warnings(ctx context.Context, v identity.Viewer, kind string, doc json.RawMessage) ([]artifacts.Problem, error)
}

// Surfaces are the assistants with a page of their own; *artifacts.Surfaces is
// one.
type Surfaces interface {
	// All is those in use, in their order.
	All(ctx context.Context) ([]artifacts.Surface, error)
	// At finds one in use by its path; NotFound when there is none.
	At(ctx context.Context, path string) (artifacts.Surface, error)
}

// Continuations finds the conversations of clients that keep what was said and
// name none: by the digest of it.
type Continuations interface {
	// Continued is the viewer's conversation that goes on from there; empty: none.
	Continued(ctx context.Context, v identity.Viewer, digest string) (conversationID string, err error)
	// Continues notes that a conversation of the viewer's goes on from there.
	Continues(ctx context.Context, v identity.Viewer, digest, conversationID string) error
}

// Items keeps what programs remember of a person.
type Items interface{ chat.Items }

// Files is each user's own folder.
type Files interface {
	Stage(ctx context.Context, v identity.Viewer, name string, body io.Reader, b files.Bounds) (*files.Staged, error)
	Usage(ctx context.Context, v identity.Viewer) (files.Usage, error)
	File(ctx context.Context, v identity.Viewer, path string) (files.File, error)
	List(ctx context.Context, v identity.Viewer, cursor string, limit int) ([]files.File, string, error)
	Delete(ctx context.Context, v identity.Viewer, path string) error
	Link(ctx context.Context, v identity.Viewer, path, session string, now time.Time) (url.Values, time.Time, error)
	LinkShared(ctx context.Context, v identity.Viewer, of files.Shared, session string, now time.Time) (url.Values, time.Time, error)
	Follow(ctx context.Context, q url.Values, live files.Live, now time.Time) (files.File, *os.File, error)
	FSPath(f files.File) string
	Extensions(ctx context.Context, v identity.Viewer) ([]string, error)
}

// Contexts keeps contexts.
type Contexts interface{ knowledge.Contexts }

// Sources notes where a context takes its files from, so that what changes
// there is taken in again (RAG-07).
type Sources interface {
	AddSource(ctx context.Context, v identity.Viewer, s knowledge.Source) error
	SourcesOf(ctx context.Context, v identity.Viewer, contextID string) ([]knowledge.Source, error)
}

// Documents keeps documents and their texts.
type Documents interface {
	PutDocument(ctx context.Context, v identity.Viewer, d knowledge.Document) (knowledge.Document, error)
	PutVersion(ctx context.Context, v identity.Viewer, d knowledge.Document, apart bool) (stored knowledge.Document, replaced *knowledge.Document, err error)
	DocumentVersions(ctx context.Context, v identity.Viewer, id string) ([]knowledge.Document, error)
	Document(ctx context.Context, v identity.Viewer, id string) (knowledge.Document, error)
	ListDocuments(ctx context.Context, v identity.Viewer, contextID, cursor string, limit int) ([]knowledge.Document, string, error)
	DeleteDocument(ctx context.Context, v identity.Viewer, id string) error
	Text(ctx context.Context, v identity.Viewer, id string) (extract.Document, error)
	// UnderWay is what of the viewer's documents is being read, or waits for it.
	UnderWay(ctx context.Context, v identity.Viewer) (quota.UnderWay, error)
}

// Chunks previews what was indexed (API-15).
type Chunks interface {
	Chunks(ctx context.Context, v identity.Viewer, contextID string, limit int) ([]knowledge.Chunk, error)
}

// Consents keeps what people allow to be learnt from them.
type Consents interface {
	LearningSettings(ctx context.Context, v identity.Viewer) (learning.Settings, error)
	PutLearningSettings(ctx context.Context, v identity.Viewer, s learning.Settings) error
	// UnreadEvents counts what no run has read yet.
	UnreadEvents(ctx context.Context, v identity.Viewer) (int, error)
	Forget(ctx context.Context, v identity.Viewer) (int, error)
}

// Lessons keeps what was learnt.
type Lessons interface {
	ListLessons(ctx context.Context, v identity.Viewer) ([]learning.Lesson, error)
	ReadLessons(ctx context.Context, v identity.Viewer, ids ...string) ([]learning.Lesson, error)
	ChangeLesson(ctx context.Context, v identity.Viewer, id string, c learning.LessonChange) (learning.Lesson, error)
	RemoveLesson(ctx context.Context, v identity.Viewer, id string) error
}

// Situations keeps what people come back to, and the events that say so.
type Situations interface {
	ListClusters(ctx context.Context, v identity.Viewer, global bool) ([]learning.Cluster, error)
	PutCluster(ctx context.Context, v identity.Viewer, c learning.Cluster) error
	PutClustering(ctx context.Context, v identity.Viewer, c learning.Clustering) error
	ClusterCases(ctx context.Context, v identity.Viewer, clusterID string, limit int) ([]learning.Case, error)
	// Events returns those of the viewer's that are there, by id.
	Events(ctx context.Context, v identity.Viewer, ids ...int64) (map[int64]learning.Case, error)
	Exclude(ctx context.Context, v identity.Viewer, eventID int64, excluded bool) error
}

// Learner starts the run that learns from what the viewer said of answers; the
// same minute again is the same run. Conflict, with its id as run_id, while an
// earlier one of theirs is under way.
type Learner interface {
	Learn(ctx context.Context, v identity.Viewer, at time.Time) (run.Run, error)
}

// Trainings keeps training jobs.
type Trainings interface {
	TrainingJob(ctx context.Context, v identity.Viewer, id string) (learning.Job, error)
	TrainingJobs(ctx context.Context, v identity.Viewer, f learning.JobFilter) ([]learning.Job, string, error)
	JobPlaces(ctx context.Context, v identity.Viewer) (map[string]learning.JobPlace, error)
	CancelJob(ctx context.Context, v identity.Viewer, id string, why learning.Remark) (learning.Job, error)
}

// Trainer trains adapters; *training.Steps is one.
type Trainer interface {
	// Possible reports whether a model runs here that can be trained for.
	Possible() bool
	Ask(ctx context.Context, v identity.Viewer, adapterID string) (learning.Job, error)
	Cancel(ctx context.Context, v identity.Viewer, id string) (learning.Job, error)
	Curve(ctx context.Context, v identity.Viewer, id string) ([]train.Metric, error)
}

// Preferences records what people say of answers (API-14).
type Preferences interface {
	Record(ctx context.Context, v identity.Viewer, f learning.Feedback) (learning.Event, error)
	// TakeBack returns what stands of the answer then; nil: nothing.
	TakeBack(ctx context.Context, v identity.Viewer, back learning.Retraction) (*learning.Event, error)
	// Latest is what the viewer said last of each message, by its id.
	Latest(ctx context.Context, v identity.Viewer, messageIDs ...string) (map[string]learning.Event, error)
}
