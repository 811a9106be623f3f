package storetest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"liminal/artifacts"
	"liminal/internal/changes"
	"liminal/internal/chat"
	"liminal/internal/embed"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/learning"
	"liminal/internal/store"
)

// Learning proves learning.Consents, learning.Situations and learning.Lessons.
func Learning(t *testing.T, open Open) {
	t.Run("people choose what is learnt", func(t *testing.T) { chosenLearning(t, open) })
	t.Run("who is due", func(t *testing.T) { dueLearners(t, open) })
	t.Run("what was read is due again only for what comes later", func(t *testing.T) { readLearners(t, open) })
	t.Run("everything is forgotten on request", func(t *testing.T) { forgotten(t, open) })
	t.Run("everything goes with its account", func(t *testing.T) { goneLearner(t, open) })
	t.Run("cases are what stands of answers", func(t *testing.T) { standingCases(t, open) })
	t.Run("cases of everybody are of who shares", func(t *testing.T) { sharedCases(t, open) })
	t.Run("a clustering comes back, and twice is once", func(t *testing.T) { storedClustering(t, open) })
	t.Run("what a person named stays named", func(t *testing.T) { namedCluster(t, open) })
	t.Run("situations of everybody are the system's", func(t *testing.T) { globalClusters(t, open) })
	t.Run("lessons come back with their sources", func(t *testing.T) { storedLessons(t, open) })
	t.Run("what a person wrote or switched off stays so", func(t *testing.T) { changedLessons(t, open) })
	t.Run("a removed one is remembered without its words", func(t *testing.T) { removedLessons(t, open) })
	t.Run("a lesson goes with the last of its sources", func(t *testing.T) { goneLessons(t, open) })
	t.Run("a lesson goes with the last of its sources, whoever is quicker", func(t *testing.T) { racedLessons(t, open) })
	t.Run("adapters of one's own", func(t *testing.T) { ownAdapters(t, open) })
}

// taught is a person who says something of answers.
type taught struct {
	s     *store.Store
	clock *clock
	v     identity.Viewer
}

func teach(t testing.TB, open Open) taught {
	t.Helper()
	c := newClock()
	s := open(t, store.Options{Running: -1, Now: c.now}).Store
	return taught{s: s, clock: c, v: person(t, s)}
}

// another is somebody else in the same store.
func (p taught) another(t testing.TB) taught {
	p.v = person(t, p.s)
	return p
}

// says gives feedback on the answer to a question of its own conversation.
func (p taught) says(t testing.TB, question string, f learning.Feedback) learning.Event {
	t.Helper()
	a, about := answered(t, p.s, p.v, question)
	return p.saysOf(t, a.ConversationID, about, f)
}

// saysOf gives feedback on one answer.
func (p taught) saysOf(t testing.TB, conversationID, messageID string, f learning.Feedback) learning.Event {
	t.Helper()
	f.ConversationID, f.MessageID = conversationID, messageID
	if f.Signal == "" {
		f.Signal = "like"
	}
	return got(learning.NewRecorder(p.s, embed.Hash{}).Record(t.Context(), p.v, f))(t)
}

// lesson is one of the person's with sources.
func (p taught) lesson(t testing.TB, text string, sources ...learning.Event) string {
	t.Helper()
	l := learning.Lesson{ID: id.New(), Text: text, MadeBy: learning.ByRule, Strength: 0.5}
	for _, e := range sources {
		l.Sources = append(l.Sources, e.ID)
	}
	stored := got(p.s.PutLessons(t.Context(), p.v, []learning.Lesson{l}))(t)
	want(t, "lessons stored", len(stored), 1)
	return l.ID
}

// lessons are the texts of the person's lessons.
func (p taught) lessons(t testing.TB) string {
	t.Helper()
	var texts []string
	for _, l := range got(p.s.ListLessons(t.Context(), p.v))(t) {
		texts = append(texts, l.Text)
	}
	return strings.Join(texts, ", ")
}

func (p taught) back(t testing.TB, e learning.Event) {
	t.Helper()
	got(p.s.DropPreference(t.Context(), p.v, learning.Retraction{ID: e.ID}))(t)
}

// due reports whether a run is due of the person.
func (p taught) due(t testing.TB) bool {
	t.Helper()
	for _, id := range got(p.s.Learners(t.Context(), system, 100))(t) {
		if id == p.v.UserID {
			return true
		}
	}
	return false
}

func (p taught) learnt(t testing.TB, upto int64) {
	t.Helper()
	need(t, p.s.Learnt(t.Context(), p.v, upto))
}

func chosenLearning(t *testing.T, open Open) {
	p := teach(t, open)
	o := p.another(t)
	want(t, "at first", got(p.s.LearningSettings(t.Context(), p.v))(t), learning.DefaultSettings())
	p.says(t, "What?", learning.Feedback{})
	want(t, "after a word", got(p.s.LearningSettings(t.Context(), p.v))(t), learning.DefaultSettings())
	for _, n := range []learning.Settings{{Shared: true}, {Personal: true}, {ByRule: true}, {}} {
		need(t, p.s.PutLearningSettings(t.Context(), p.v, n))
		want(t, "kept", got(p.s.LearningSettings(t.Context(), p.v))(t), n)
	}
	want(t, "of another", got(p.s.LearningSettings(t.Context(), o.v))(t), learning.DefaultSettings())
	for range 5 {
		p.says(t, "What?", learning.Feedback{})
	}
	want(t, "due without leave", p.due(t), false)
	need(t, p.s.PutLearningSettings(t.Context(), p.v, learning.Settings{Personal: true}))
	want(t, "due with leave", p.due(t), true)
}

func dueLearners(t *testing.T, open Open) {
	first := teach(t, open)
	want(t, "who said nothing", first.due(t), false)
	for range 4 {
		first.says(t, "What?", learning.Feedback{})
	}
	want(t, "after four", first.due(t), false)
	excluded := first.says(t, "What?", learning.Feedback{})
	want(t, "after five", first.due(t), true)
	want(t, "unread", got(first.s.UnreadEvents(t.Context(), first.v))(t), 5)
	first.learnt(t, excluded.ID)
	need(t, first.s.Exclude(t.Context(), first.v, excluded.ID, true))
	want(t, "after one was excluded", first.due(t), true)

	first.clock.add(time.Second)
	noted := first.another(t)
	noted.says(t, "What?", learning.Feedback{Notes: "too long"})
	noted.says(t, "What?", learning.Feedback{Signal: "dislike", Corrected: "So."})
	want(t, "after two with a word", noted.due(t), false)
	noted.says(t, "What?", learning.Feedback{Notes: "too long"})
	want(t, "after three with a word", noted.due(t), true)

	slow := noted.another(t)
	slow.says(t, "What?", learning.Feedback{})
	first.clock.add(6*time.Hour - time.Second)
	want(t, "within six hours", slow.due(t), false)
	first.clock.add(2 * time.Second)
	want(t, "after six hours", slow.due(t), true)

	want(t, "the first two that wait", fmt.Sprint(got(first.s.Learners(t.Context(), system, 2))(t)), fmt.Sprint([]string{first.v.UserID, noted.v.UserID}))
	_, err := first.s.Learners(t.Context(), first.v, 2)
	wantFault(t, err, fault.Forbidden)

	inactive := false
	got(first.s.ChangeUser(t.Context(), slow.v.UserID, identity.UserChange{Active: &inactive}))(t)
	want(t, "whose account is closed", slow.due(t), false)
}

func readLearners(t *testing.T, open Open) {
	p := teach(t, open)
	var events []learning.Event
	for range 6 {
		events = append(events, p.says(t, "What?", learning.Feedback{}))
	}
	p.learnt(t, events[0].ID)
	want(t, "five are left", p.due(t), true)
	want(t, "unread", got(p.s.UnreadEvents(t.Context(), p.v))(t), 5)
	p.learnt(t, events[5].ID)
	want(t, "all are read", p.due(t), false)
	want(t, "unread", got(p.s.UnreadEvents(t.Context(), p.v))(t), 0)
	p.clock.add(7 * time.Hour)
	want(t, "what was read grows old", p.due(t), false)
	p.back(t, events[2])
	want(t, "one was taken back", p.due(t), true)
	p.learnt(t, events[5].ID)
	want(t, "that was read", p.due(t), false)
	need(t, p.s.DeleteConversation(t.Context(), p.v, events[3].ConversationID))
	want(t, "one went with its conversation", p.due(t), true)
	p.learnt(t, events[5].ID)
	p.says(t, "What?", learning.Feedback{})
	want(t, "one is new", p.due(t), false)
	want(t, "unread", got(p.s.UnreadEvents(t.Context(), p.v))(t), 1)
}

func forgotten(t *testing.T, open Open) {
	g := newStage(t, open)
	p := taught{s: g.s, clock: g.clock, v: g.by}
	o := p.another(t)
	for _, who := range []taught{p, o} {
		e := who.says(t, "What?", learning.Feedback{Notes: "good"})
		who.says(t, "What else?", learning.Feedback{})
		need(t, who.s.PutClustering(t.Context(), who.v, learning.Clustering{Clusters: []learning.Cluster{found(id.New())}}))
		who.lesson(t, "Be brief.", e)
		who.adapter(t, "learnt", `"scope":"per-user"`)
		who.adapter(t, "written", `"scope":"shared"`)
	}
	a, about := answered(t, p.s, p.v, "What is a lemma?")
	heardIn := accept(t, p.s, p.v, chat.NewTurn{ConversationID: a.ConversationID, Message: "I like this approach."}).MessageID
	got(learning.NewRecorder(p.s, embed.Hash{}).Record(t.Context(), p.v,
		learning.Feedback{ConversationID: a.ConversationID, MessageID: about, Signal: "like", HeardIn: heardIn}))(t)
	learnt := got(p.s.ArtifactNamed(t.Context(), p.v, artifacts.KindAdapter, "learnt"))(t)
	other := g.workflow(t, "other")
	pending := g.propose(t, other, learnt)
	need(t, p.s.PutLearningSettings(t.Context(), p.v, learning.Settings{Personal: true}))

	want(t, "events", got(p.s.Forget(t.Context(), p.v))(t), 3)
	want(t, "left of theirs", p.left(t), "0 0 0 1")
	want(t, "left of another's", o.left(t), "2 1 1 2")
	want(t, "heard", strings.HasSuffix(fmt.Sprint(got(p.s.Message(t.Context(), p.v, heardIn))(t).Meta["noted"]), "undone:true]"), true)
	want(t, "the proposal", got(p.s.Patch(t.Context(), system, pending.ID))(t).Status, changes.Withdrawn)
	want(t, "settings", got(p.s.LearningSettings(t.Context(), p.v))(t), learning.Settings{Personal: true})
	want(t, "due", p.due(t), false)
	want(t, "again", got(p.s.Forget(t.Context(), p.v))(t), 0)
}

func goneLearner(t *testing.T, open Open) {
	p := teach(t, open)
	o := p.another(t)
	for _, who := range []taught{p, o} {
		e := who.says(t, "What?", learning.Feedback{})
		c := found(id.New())
		who.put(t, map[int64]string{e.ID: c.ID}, c)
		who.lesson(t, "Be brief.", e)
		persona := who.adapter(t, "learnt", `"scope":"per-user"`)
		need(t, who.s.UsedAdapters(t.Context(), got(who.s.Message(t.Context(), who.v, e.MessageID))(t).RunID, used(persona)))
		need(t, who.s.PutLearningSettings(t.Context(), who.v, learning.Settings{Personal: true, Shared: true}))
		need(t, who.s.Exclude(t.Context(), who.v, who.says(t, "And?", learning.Feedback{}).ID, true))
	}
	got(p.s.DeleteUser(t.Context(), o.v.UserID))(t) // not the first account, which administers
	want(t, "left", o.left(t), "0 0 0 0")
	want(t, "settings", got(o.s.LearningSettings(t.Context(), o.v))(t), learning.DefaultSettings())
	want(t, "due", o.due(t), false)
	want(t, "shared", len(got(p.s.SharedCases(t.Context(), system, 10))(t)), 1)
	want(t, "left of another", p.left(t), "1 1 1 1")
}

// left counts a person's events, clusters, lessons and adapters.
func (p taught) left(t testing.TB) string {
	t.Helper()
	ctx := t.Context()
	return fmt.Sprint(len(got(p.s.Cases(ctx, p.v, 100))(t)), len(got(p.s.ListClusters(ctx, p.v, false))(t)),
		len(got(p.s.ListLessons(ctx, p.v))(t)), len(got(p.s.OwnAdapters(ctx, p.v))(t)))
}

func (p taught) adapter(t testing.TB, name, fields string) string {
	t.Helper()
	a := artifacts.Artifact{Type: artifacts.KindAdapter, Name: name, Schema: []byte(`{"kind":"adapter.lora",` + fields + `}`), CreatedBy: "user"}
	return got(p.s.CreateArtifact(t.Context(), p.v, a, ""))(t).ID
}

func ownAdapters(t *testing.T, open Open) {
	p := teach(t, open)
	cluster := id.New()
	persona, skill := p.adapter(t, "persona", `"type":"persona"`), p.adapter(t, "skill", `"type":"skill","cluster_id":"`+cluster+`"`)
	p.adapter(t, "disabled", `"status":"disabled"`)
	p.adapter(t, "draft", `"status":"draft"`)
	p.another(t).adapter(t, "another's", `"type":"persona"`)
	adapter(t, p.s) // everybody's
	want(t, "adapters", fmt.Sprint(got(p.s.OwnAdapters(t.Context(), p.v))(t)), fmt.Sprint(map[string]string{persona: "", skill: cluster}))
	need(t, p.s.PutLearningSettings(t.Context(), p.v, learning.Settings{ByRule: true}))
	want(t, "when nothing is to change", len(got(p.s.OwnAdapters(t.Context(), p.v))(t)), 0)
}

func goneLessons(t *testing.T, open Open) {
	for name, remove := range map[string]func(t *testing.T, p taught, e learning.Event){
		"taken back": func(t *testing.T, p taught, e learning.Event) { p.back(t, e) },
		"conversation deleted": func(t *testing.T, p taught, e learning.Event) {
			need(t, p.s.DeleteConversation(t.Context(), p.v, e.ConversationID))
		},
		"excluded": func(t *testing.T, p taught, e learning.Event) {
			need(t, p.s.Exclude(t.Context(), p.v, e.ID, true))
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := teach(t, open)
			one, two := p.says(t, "One?", learning.Feedback{}), p.says(t, "Two?", learning.Feedback{})
			p.lesson(t, "of one", one)
			both := p.lesson(t, "of both", one, two)
			remove(t, p, one)
			want(t, "after the first", p.lessons(t), "of both")
			want(t, "its sources", fmt.Sprint(got(p.s.ReadLessons(t.Context(), p.v, both))(t)[0].Sources), fmt.Sprint([]int64{two.ID}))
			remove(t, p, two)
			want(t, "after the second", p.lessons(t), "")
			// SQLite gives the number of the last event again.
			p.says(t, "Three?", learning.Feedback{})
			want(t, "when there is a new one", p.lessons(t), "")
		})
	}
}

func racedLessons(t *testing.T, open Open) {
	p := teach(t, open)
	for range 5 {
		var events []learning.Event
		for range 8 {
			events = append(events, p.says(t, "What?", learning.Feedback{}))
		}
		p.lesson(t, "of all", events...)
		need(t, errors.Join(race(len(events), func(i int) error {
			return p.s.DeleteConversation(t.Context(), p.v, events[i].ConversationID)
		})...))
		want(t, "left", p.lessons(t), "")
	}
}

const learner, theirTalk, theirAnswer = "11111111-1111-4111-8111-111111111111", "33333333-3333-4333-8333-333333333333", "55555555-5555-4555-8555-555555555555"

// TaughtBefore are statements that give a person an event, in a database from
// before what is learnt was kept; now and vector are literals of the dialect's.
func TaughtBefore(now, vector string) []string {
	return []string{
		fmt.Sprintf(`INSERT INTO app_user (id, email, created_at) VALUES ('%s', 'a@example.org', %s)`, learner, now),
		fmt.Sprintf(`INSERT INTO conversation (id, user_id, created_at, updated_at) VALUES ('%s', '%s', %s, %[3]s)`, theirTalk, learner, now),
		fmt.Sprintf(`INSERT INTO message (id, conversation_id, user_id, sender, role, content, seq, created_at)
			VALUES ('%s', '%s', '%s', 'assistant', 'assistant', 'So it is.', 1, %s)`, theirAnswer, theirTalk, learner, now),
		fmt.Sprintf(`INSERT INTO preference_event (user_id, conversation_id, message_id, explicit_signal, score, context_embedding, created_at)
			VALUES ('%s', '%s', '%s', 'like', 1, %s, %s)`, learner, theirTalk, theirAnswer, vector, now),
	}
}

// IsDue proves that a run is due of the person of TaughtBefore, whose settings
// are the ordinary ones.
func IsDue(t *testing.T, s *store.Store) {
	want(t, "who is due", fmt.Sprint(got(s.Learners(t.Context(), system, 10))(t)), fmt.Sprint([]string{learner}))
	v := identity.Viewer{UserID: learner}
	want(t, "settings", got(s.LearningSettings(t.Context(), v))(t), learning.DefaultSettings())
	want(t, "unread", got(s.UnreadEvents(t.Context(), v))(t), 1)
}
