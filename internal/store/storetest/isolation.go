package storetest

import (
	"encoding/json"
	"maps"
	"testing"
	"time"

	"liminal/internal/changes"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/files"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/knowledge/extract"
	"liminal/internal/learning"
	"liminal/internal/quota"
	"liminal/internal/run"
	"liminal/internal/sharing"
)

// Isolation proves that another person's ids do not exist, for every method
// that takes one, and that no list shows what is theirs (ISO-01).
func Isolation(t *testing.T, open Open) {
	b := open(t, unlimited)
	owner, stranger := person(t, b.Store), person(t, b.Store)
	o := everything(t, b, owner)
	attempts := o.attempts(t, b)
	maps.Copy(attempts, o.setAttempts(t, b))
	maps.Copy(attempts, o.memoryAttempts(t, b))
	maps.Copy(attempts, o.pathAttempts(t, b))
	maps.Copy(attempts, o.patchAttempts(t, b))
	maps.Copy(attempts, o.learningAttempts(t, b))
	for name, try := range attempts {
		t.Run(name, func(t *testing.T) { wantFault(t, try(stranger), fault.NotFound) })
	}
	t.Run("lists", func(t *testing.T) { foreignLists(t, b, stranger, o) })
	t.Run("nothing was changed", func(t *testing.T) {
		want(t, "run", got(b.Store.Run(t.Context(), owner, o.turn.Run.ID))(t).Status, run.Waiting)
		want(t, "question", got(b.Store.Interrupt(t.Context(), owner, o.question))(t).Status, run.Pending)
		want(t, "title", got(b.Store.Conversation(t.Context(), owner, o.turn.ConversationID))(t).Title, "secret")
		want(t, "set", got(b.Store.Set(t.Context(), owner, o.set.ID))(t).Title, "secret")
		want(t, "document", got(b.Store.Document(t.Context(), owner, o.document.ID))(t).Status, knowledge.Waiting)
		want(t, "chunk", got(b.Index.Chunk(t.Context(), owner, chunkID(o.document, 0)))(t).Content, "secret chunk")
		want(t, "version", got(b.Store.Artifact(t.Context(), owner, o.artifact))(t).Version, 1)
		want(t, "proposal", got(b.Store.Patch(t.Context(), owner, o.patch.ID))(t).Status, changes.Pending)
		want(t, "lesson", got(b.Store.ListLessons(t.Context(), owner))(t)[0].Text, "secret")
		want(t, "situation", got(b.Store.ListClusters(t.Context(), owner, false))(t)[0].Label, "secret")
		want(t, "event", got(b.Store.Cases(t.Context(), owner, 1))(t)[0].ID, o.event)
		want(t, "memory", got(b.Store.Artifact(t.Context(), owner, chat.MemoryID(o.turn.ConversationID)))(t).Version, 1)
	})
}

// owned is one of everything a person can own.
type owned struct {
	turn                chat.Accepted
	job                 run.Run
	question, blob      string
	document            knowledge.Document
	set                 knowledge.Set
	artifact, file, req string
	patch               changes.Patch
	recorded            string // a run that has ended
	cluster, lesson     string
	event               int64
}

// Possess gives a new person one of everything that the store's own methods
// put into a person's tables, and returns them.
func Possess(t testing.TB, b Backend) identity.Viewer {
	t.Helper()
	v := person(t, b.Store)
	o := everything(t, b, v)
	got(b.Store.ClaimKey(t.Context(), v, key("k", "holder"), time.Hour))(t)
	need(t, b.Store.AddSource(t.Context(), v, knowledge.Source{ContextID: o.document.ContextID, Path: "files"}))
	need(t, b.Store.OpenSession(t.Context(), identity.Session{ID: id.New(), UserID: v.UserID, RefreshHash: "h", ExpiresAt: time.Now().Add(time.Hour)}))
	accessKey(t, b.Store, v.UserID, "read")
	share(t, b, v, sharing.Share{Kind: sharing.Set, ObjectID: o.set.ID, TenantID: "elsewhere"})
	return v
}

func everything(t testing.TB, b Backend, v identity.Viewer) owned {
	t.Helper()
	o := owned{file: "files/secret.txt", req: "request"}
	o.turn = accept(t, b.Store, v, chat.NewTurn{Message: "secret", RequestID: o.req})
	o.question = ask(t, b.Store, v, o.turn.Run.ID, "e")[0]
	o.blob = got(b.Store.PutBlob(t.Context(), v, o.turn.Run.ID, "k", []byte("secret")))(t)
	o.job = job(v, "ingest:d")
	need(t, b.Store.CreateRun(t.Context(), v, o.job))
	o.document = newDocument(t, b.Store, v, newContext(t, b.Store, v, "secret").ID, o.file)
	need(t, b.Store.PutText(t.Context(), v, o.document.ID, extract.Document{Text: "secret"}))
	upsert(t, b, v, o.document, "secret chunk")
	o.set = newSet(t, b.Store, v, "secret", o.document.ID)
	need(t, b.Store.AddUsage(t.Context(), v, quota.Entry{RunID: o.turn.Run.ID, Effect: "e", Attempt: 1, ConversationID: o.turn.ConversationID, Model: "m", Use: quota.Use{Calls: 1, Input: 7}}))
	need(t, putMemory(t.Context(), b.Store, v, o.turn.ConversationID, 0, 1))
	o.artifact = got(b.Store.CreateArtifact(t.Context(), v, draft("secret"), ""))(t).ID
	need(t, b.Store.PutFile(t.Context(), v, files.File{Path: o.file}, files.Bounds{}))
	o.recorded = leave(t, b.Store, v, recorded(pin("secret", 1)))
	o.propose(t, b, v)
	o.learn(t, b, v)
	_, _, err := b.Store.SearchMessages(t.Context(), v, []string{"secret"}, "", 1) // which indexes their words
	need(t, err)
	return o
}

// propose makes a proposal about the artifact.
func (o *owned) propose(t testing.TB, b Backend, v identity.Viewer) {
	t.Helper()
	c := changes.Change{ArtifactID: o.artifact, Kind: "workflow.chat", Name: "secret", Base: 1}
	var err error
	o.patch, _, err = b.Store.CreatePatch(t.Context(), v, proposed(v, c), nil, event(v, "proposed", "secret"))
	need(t, err)
}

// learn makes an event, and a situation and a lesson of it.
func (o *owned) learn(t testing.TB, b Backend, v identity.Viewer) {
	t.Helper()
	o.event = got(b.Store.PutPreference(t.Context(), v, learning.Event{
		ConversationID: o.turn.ConversationID, MessageID: o.turn.MessageID, Signal: "like", Score: 1, Embedding: direction(0),
	}))(t).ID
	o.cluster, o.lesson = id.New(), id.New()
	c := found(o.cluster)
	c.Label = "secret"
	need(t, b.Store.PutClustering(t.Context(), v, learning.Clustering{Clusters: []learning.Cluster{c}, Of: map[int64]string{o.event: o.cluster}}))
	got(b.Store.PutLessons(t.Context(), v, []learning.Lesson{{ID: o.lesson, ClusterID: o.cluster, Text: "secret", MadeBy: learning.ByRule, Sources: []int64{o.event}}}))(t)
}

type attempt func(v identity.Viewer) error

func (o owned) attempts(t *testing.T, b Backend) map[string]attempt {
	ctx, s, talk, runID := t.Context(), b.Store, o.turn.ConversationID, o.turn.Run.ID
	title := "taken"
	second := func(_ any, err error) error { return err }
	return map[string]attempt{
		"Run":          func(v identity.Viewer) error { return second(s.Run(ctx, v, runID)) },
		"RunByRequest": func(v identity.Viewer) error { return second(s.RunByRequest(ctx, v, o.req)) },
		"OpenRun":      func(v identity.Viewer) error { return s.OpenRun(ctx, v, runID, []run.Pin{{Name: "x"}}) },
		"EndRun":       func(v identity.Viewer) error { return s.EndRun(ctx, v, o.job.ID, run.End{Status: run.Done}) },
		"Ask":          func(v identity.Viewer) error { return s.Ask(ctx, v, true, run.Interrupt{ID: "x", RunID: runID}) },
		"Answer":       func(v identity.Viewer) error { return second(s.Answer(ctx, v, o.question, run.Answered, nil)) },
		"Interrupt":    func(v identity.Viewer) error { return second(s.Interrupt(ctx, v, o.question)) },
		"Deliver":      func(v identity.Viewer) error { return s.Deliver(ctx, v, runID, o.question) },
		"PutBlob":      func(v identity.Viewer) error { return second(s.PutBlob(ctx, v, runID, "k", nil)) },
		"Blob":         func(v identity.Viewer) error { return second(s.Blob(ctx, v, o.blob)) },
		"Conversation": func(v identity.Viewer) error { return second(s.Conversation(ctx, v, talk)) },
		"UpdateConversation": func(v identity.Viewer) error {
			return second(s.UpdateConversation(ctx, v, talk, chat.ConversationChange{Title: &title}))
		},
		"DeleteConversation": func(v identity.Viewer) error { return s.DeleteConversation(ctx, v, talk) },
		"ListMessages": func(v identity.Viewer) error {
			_, _, err := s.ListMessages(ctx, v, talk, "", 10)
			return err
		},
		"Message": func(v identity.Viewer) error { return second(s.Message(ctx, v, o.turn.MessageID)) },
		"Accept": func(v identity.Viewer) error {
			return second(s.Accept(ctx, v, chat.NewTurn{ConversationID: talk, Message: "x"}))
		},
		"CloseTurn": func(v identity.Viewer) error { return second(s.CloseTurn(ctx, v, answer(runID, "x"))) },
		"File":      func(v identity.Viewer) error { return second(s.File(ctx, v, o.file)) },
		"DeleteFile": func(v identity.Viewer) error {
			return s.DeleteFile(ctx, v, o.file)
		},
		"Context":       func(v identity.Viewer) error { return second(s.Context(ctx, v, o.document.ContextID)) },
		"DeleteContext": func(v identity.Viewer) error { return s.DeleteContext(ctx, v, o.document.ContextID) },
		"PutDocument": func(v identity.Viewer) error {
			return second(s.PutDocument(ctx, v, knowledge.Document{ContextID: o.document.ContextID, Path: "x"}))
		},
		"Document":       func(v identity.Viewer) error { return second(s.Document(ctx, v, o.document.ID)) },
		"DeleteDocument": func(v identity.Viewer) error { return s.DeleteDocument(ctx, v, o.document.ID) },
		"SetDocument": func(v identity.Viewer) error {
			return s.SetDocument(ctx, v, knowledge.Document{ID: o.document.ID, Status: knowledge.Failed})
		},
		"ListDocuments": func(v identity.Viewer) error {
			_, _, err := s.ListDocuments(ctx, v, o.document.ContextID, "", 10)
			return err
		},
		"PutVersion": func(v identity.Viewer) error {
			_, _, err := s.PutVersion(ctx, v, knowledge.Document{ContextID: o.document.ContextID, Path: "x", Origin: "x"}, false)
			return err
		},
		"DocumentVersions": func(v identity.Viewer) error { return second(s.DocumentVersions(ctx, v, o.document.ID)) },
		"Supersede":        func(v identity.Viewer) error { return second(s.Supersede(ctx, v, o.document.ID)) },
		"PutText":          func(v identity.Viewer) error { return s.PutText(ctx, v, o.document.ID, extract.Document{Text: "x"}) },
		"Text":             func(v identity.Viewer) error { return second(s.Text(ctx, v, o.document.ID)) },
		"Artifact":         func(v identity.Viewer) error { return second(s.Artifact(ctx, v, o.artifact)) },
		"ArtifactNamed":    func(v identity.Viewer) error { return second(s.ArtifactNamed(ctx, v, "workflow.chat", "secret")) },
		"AppendVersion": func(v identity.Viewer) error {
			return second(s.AppendVersion(ctx, v, o.artifact, 1, json.RawMessage(`{}`), "user", ""))
		},
		"Versions":     func(v identity.Viewer) error { return second(s.Versions(ctx, v, o.artifact)) },
		"Index.Upsert": func(v identity.Viewer) error { return b.Index.Upsert(ctx, v, chunksOf(o.document, "x")) },
		"Index.Prune":  func(v identity.Viewer) error { return b.Index.Prune(ctx, v, o.document.ID, nil) },
		"Index.Chunk":  func(v identity.Viewer) error { return second(b.Index.Chunk(ctx, v, chunkID(o.document, 0))) },
		"Index.Chunks": func(v identity.Viewer) error { return second(b.Index.Chunks(ctx, v, o.document.ContextID, 5)) },
	}
}

// pathAttempts are those on what a conversation shows.
func (o owned) pathAttempts(t *testing.T, b Backend) map[string]attempt {
	ctx, s, talk := t.Context(), b.Store, o.turn.ConversationID
	second := func(_ any, err error) error { return err }
	return map[string]attempt{
		"MessagePage": func(v identity.Viewer) error {
			return second(s.MessagePage(ctx, v, talk, chat.MessageRange{Latest: true}))
		},
		"ShowVersion": func(v identity.Viewer) error { return s.ShowVersion(ctx, v, talk, o.turn.MessageID) },
		"Branch":      func(v identity.Viewer) error { return second(s.Branch(ctx, v, talk, o.turn.MessageID, id.New())) },
		"Replace": func(v identity.Viewer) error {
			return second(s.Accept(ctx, v, chat.NewTurn{ConversationID: talk, Message: "x", Replaces: o.turn.MessageID}))
		},
	}
}

// memoryAttempts are those on what is remembered of a conversation.
func (o owned) memoryAttempts(t *testing.T, b Backend) map[string]attempt {
	ctx, s, talk := t.Context(), b.Store, o.turn.ConversationID
	return map[string]attempt{
		"Memory": func(v identity.Viewer) error {
			_, _, err := s.Memory(ctx, v, talk)
			return err
		},
		"PutMemory": func(v identity.Viewer) error { return putMemory(ctx, s, v, talk, 1, 1) },
	}
}

// patchAttempts are those on a proposal, and on what a run left.
func (o owned) patchAttempts(t *testing.T, b Backend) map[string]attempt {
	ctx, s := t.Context(), b.Store
	return map[string]attempt{
		"Patch":       func(v identity.Viewer) error { return second(s.Patch(ctx, v, o.patch.ID)) },
		"PatchEvents": func(v identity.Viewer) error { return second(s.PatchEvents(ctx, v, o.patch.ID)) },
		"TransitionPatch": func(v identity.Viewer) error {
			return second(s.TransitionPatch(ctx, v, changes.Transition{PatchID: o.patch.ID, Status: changes.Withdrawn, Event: event(v, "withdrawn", "")}))
		},
		"PatchRun":  func(v identity.Viewer) error { return second(s.Run(ctx, v, o.patch.RunID)) },
		"Recording": func(v identity.Viewer) error { return second(s.Recording(ctx, v, o.recorded)) },
	}
}

// learningAttempts are those on what is learnt.
func (o owned) learningAttempts(t *testing.T, b Backend) map[string]attempt {
	ctx, s, off := t.Context(), b.Store, learning.LessonOff
	return map[string]attempt{
		"Exclude": func(v identity.Viewer) error { return s.Exclude(ctx, v, o.event, true) },
		"PutCluster": func(v identity.Viewer) error {
			return s.PutCluster(ctx, v, learning.Cluster{ID: o.cluster, Label: "taken"})
		},
		"ClusterCases": func(v identity.Viewer) error { return second(s.ClusterCases(ctx, v, o.cluster, 10)) },
		"ChangeLesson": func(v identity.Viewer) error {
			return second(s.ChangeLesson(ctx, v, o.lesson, learning.LessonChange{State: &off}))
		},
		"DropLesson":   func(v identity.Viewer) error { return s.DropLesson(ctx, v, o.lesson) },
		"RemoveLesson": func(v identity.Viewer) error { return s.RemoveLesson(ctx, v, o.lesson) },
	}
}

// setAttempts are those on titles and sets.
func (o owned) setAttempts(t *testing.T, b Backend) map[string]attempt {
	ctx, s, title := t.Context(), b.Store, "taken"
	return map[string]attempt{
		"RenameDocument": func(v identity.Viewer) error { return second(s.RenameDocument(ctx, v, o.document.ID, title)) },
		"CreateSet": func(v identity.Viewer) error {
			return second(s.CreateSet(ctx, v, knowledge.Set{Title: title, Documents: []string{o.document.ID}}))
		},
		"Set": func(v identity.Viewer) error { return second(s.Set(ctx, v, o.set.ID)) },
		"UpdateSet": func(v identity.Viewer) error {
			return second(s.UpdateSet(ctx, v, o.set.ID, knowledge.SetChange{Title: &title}))
		},
		"DeleteSet": func(v identity.Viewer) error { return s.DeleteSet(ctx, v, o.set.ID) },
	}
}

func foreignLists(t *testing.T, b Backend, v identity.Viewer, o owned) {
	ctx, s := t.Context(), b.Store
	count := func(what string, n int, err error) {
		t.Helper()
		need(t, err)
		want(t, what, n, 0)
	}
	runs, _, err := s.ListRuns(ctx, v, run.Filter{})
	count("runs", len(runs), err)
	patches, _, err := s.ListPatches(ctx, v, changes.Filter{})
	count("proposals", len(patches), err)
	patches, _, err = s.ListPatches(ctx, v, changes.Filter{ArtifactID: o.artifact})
	count("proposals about it", len(patches), err)
	questions, err := s.PendingInterrupts(ctx, v, o.turn.ConversationID)
	count("questions", len(questions), err)
	talks, _, err := s.ListConversations(ctx, v, "", 10)
	count("conversations", len(talks), err)
	talks, _, err = s.ListProgramConversations(ctx, v, "", 10)
	count("conversations of programs", len(talks), err)
	history, err := s.History(ctx, v, o.turn.ConversationID, 1000, 10)
	count("history", len(history), err)
	heads, err := s.MessageHeads(ctx, v, []string{o.turn.MessageID}, 10)
	count("heads of messages", len(heads), err)
	held, _, err := s.ListFiles(ctx, v, "", 10)
	count("files", len(held), err)
	contexts, _, err := s.ListContexts(ctx, v, "", "", 10)
	count("contexts", len(contexts), err)
	hits, err := b.Index.Search(ctx, v, knowledge.Query{ContextIDs: []string{o.document.ContextID}, Text: "secret", Vector: direction(0), Limit: 5})
	count("hits", len(hits), err)
	sets, _, err := s.ListSets(ctx, v, "", 10)
	count("sets", len(sets), err)
	sets, err = s.SetsByID(ctx, v, []string{o.set.ID})
	count("sets by id", len(sets), err)
	titles, err := s.OwnDocuments(ctx, v, 10)
	count("titles", len(titles), err)
	titles, err = s.DocumentsByID(ctx, v, []string{o.document.ID})
	count("titles by id", len(titles), err)
	titles, _, err = s.FindDocuments(ctx, v, "secret", "", 10)
	count("titles found", len(titles), err)
	account, err := s.Account(ctx, v, "2000-01-01")
	count("spending", len(account.Lines), err)
	use, err := s.ConversationUse(ctx, v, o.turn.ConversationID)
	count("use", int(use.Calls), err)
	cases, err := s.Cases(ctx, v, 10)
	count("cases", len(cases), err)
	cases, err = s.Examples(ctx, v, o.event)
	count("examples", len(cases), err)
	situations, err := s.ListClusters(ctx, v, false)
	count("situations", len(situations), err)
	lessons, err := s.ListLessons(ctx, v)
	count("lessons", len(lessons), err)
	lessons, err = s.ReadLessons(ctx, v, o.lesson)
	count("lessons by id", len(lessons), err)
	lessons, err = s.PutLessons(ctx, v, []learning.Lesson{{ID: id.New(), Text: "taken", MadeBy: learning.ByRule, Sources: []int64{o.event}}})
	count("lessons of its event", len(lessons), err)
	unread, err := s.UnreadEvents(ctx, v)
	count("unread", unread, err)
	need(t, s.Situate(ctx, v, map[int64]string{o.event: "taken"}))
	need(t, s.PutClustering(ctx, v, learning.Clustering{Of: map[int64]string{o.event: ""}}))
	forgot, err := s.Forget(ctx, v)
	count("forgotten", forgot, err)
	_, err = s.Unfinished(ctx, v, -time.Hour)
	wantFault(t, err, fault.Forbidden)
}
