package backends_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"liminal/internal/backends"
	"liminal/internal/backends/backendstest"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/model"
	"liminal/internal/model/extractive"
)

const secret = "sk-very-secret-0123456789abcd"

func office(s *backendstest.Server) backends.Edit {
	return backends.Edit{
		Title: backendstest.P("The office"), Protocol: backendstest.P("openai"), URL: backendstest.P(s.Base()),
		Model: backendstest.P("tiny"), Key: backendstest.P(secret),
	}
}

func says(t *testing.T, s *backends.Served) string {
	t.Helper()
	var b strings.Builder
	for e, err := range s.Model.Stream(t.Context(), model.Request{Task: "chat", Messages: []model.Message{{Role: model.User, Content: []model.Block{{Type: model.Text, Text: "hi"}}}}}) {
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(e.Text)
	}
	return b.String()
}

func need(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Requirements: LORA-22
func TestABackendIsThereAtOnceAndElsewhereWithinMoments(t *testing.T) {
	t.Parallel()
	store, server := backendstest.NewStore(), backendstest.Serve(t, "one")
	clock := time.Now()
	later := func(o *backends.Options) { o.Now = func() time.Time { return clock } }
	here, there := backendstest.Open(t, store, extractive.Model{}, later), backendstest.Open(t, store, extractive.Model{}, later)
	if !here.Alone() || here.Network() || here.Generates() || here.Default().Name != backends.Environment {
		t.Error("before any was added there is more than the environment's")
	}
	b, err := here.Add(t.Context(), backendstest.Admin, "office", office(server))
	need(t, err)
	if b.KeyEnd != "abcd" || !b.HasKey() || len(b.Sealed) != 0 {
		t.Errorf("added: %+v", b)
	}
	served, err := here.Served(t.Context(), "office")
	need(t, err)
	if got := says(t, served); got != "one as tiny" || served.InProcess || !served.Generates {
		t.Errorf("the office says %q: %+v", got, served)
	}
	if keys := server.Keys(); !slices.Equal(keys, []string{secret}) {
		t.Errorf("the server was sent %q", keys)
	}
	// Another process finds a name it does not know as soon as it is asked for it.
	if _, err := there.Served(t.Context(), "office"); fault.Reason(err) != "backend" {
		t.Errorf("within the second: %v", err)
	}
	clock = clock.Add(2 * time.Second)
	found, err := there.Served(t.Context(), "office")
	need(t, err)
	if got := says(t, found); got != "one as tiny" {
		t.Errorf("there the office says %q", got)
	}
	// What changes is taken in by whoever watches; the rest costs the store nothing.
	_, err = here.Change(t.Context(), backendstest.Admin, "office", backends.Edit{Model: backendstest.P("huge")})
	need(t, err)
	need(t, here.MakeDefault(t.Context(), backendstest.Admin, "office"))
	need(t, there.Refresh(t.Context()))
	if got := says(t, there.Default()); got != "one as huge" {
		t.Errorf("after the change the default says %q", got)
	}
	reads := store.Reads
	for range 100 {
		_, _ = there.Served(t.Context(), "office")
		_, _ = there.Default(), there.Options()
		need(t, there.MayChoose(t.Context(), "office"))
	}
	if store.Reads != reads {
		t.Errorf("turns read the store %d times", store.Reads-reads)
	}
	if err := here.Remove(t.Context(), backendstest.Admin, "office"); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("the default was removed: %v", err)
	}
	need(t, here.MakeDefault(t.Context(), backendstest.Admin, backends.Environment))
	need(t, here.Remove(t.Context(), backendstest.Admin, "office"))
	need(t, there.Refresh(t.Context()))
	clock = clock.Add(2 * time.Second)
	if _, err := there.Served(t.Context(), "office"); fault.CodeOf(err) != fault.Invalid || !strings.Contains(err.Error(), `"office"`) {
		t.Errorf("after the removal: %v", err)
	}
	if got := says(t, found); got != "one as tiny" {
		t.Errorf("a call under way says %q", got)
	}
}

func TestAKeyIsSealedAndDoesNotFollowToAnotherServer(t *testing.T) {
	t.Parallel()
	store, one, two := backendstest.NewStore(), backendstest.Serve(t, "one"), backendstest.Serve(t, "two")
	r := backendstest.Open(t, store, extractive.Model{})
	_, err := r.Add(t.Context(), backendstest.Admin, "office", office(one))
	need(t, err)
	rows, _, _ := store.Backends(t.Context())
	listed, err := r.List(t.Context(), backendstest.Admin)
	need(t, err)
	entries, err := r.Entries(t.Context(), backendstest.Admin)
	need(t, err)
	for what, shown := range map[string]string{
		"the store": fmt.Sprintf("%q", rows[1].Sealed), "the list": fmt.Sprintf("%+v %#v", listed, listed), "what was done": fmt.Sprintf("%+v", entries),
	} {
		if strings.Contains(shown, secret) || strings.Contains(shown, "0123456789") {
			t.Errorf("%s shows the key: %s", what, shown)
		}
	}
	if !slices.Contains(entries[0].Fields, "api_key") || entries[0].Action != "added" || entries[0].ActorID != backendstest.Admin.UserID {
		t.Errorf("the entry is %+v", entries[0])
	}
	b, err := r.Change(t.Context(), backendstest.Admin, "office", backends.Edit{Title: backendstest.P("Office")})
	if err != nil || !b.HasKey() {
		t.Errorf("another title: %+v, %v", b, err)
	}
	b, err = r.Change(t.Context(), backendstest.Admin, "office", backends.Edit{URL: backendstest.P(two.Base())})
	if err != nil || b.HasKey() || b.KeyEnd != "" {
		t.Errorf("another server has the key: %+v, %v", b, err)
	}
	served, err := r.Served(t.Context(), "office")
	need(t, err)
	for _, err := range served.Model.Stream(t.Context(), model.Request{}) {
		if fault.Reason(err) != fault.NotConfigured || !strings.Contains(err.Error(), "no key") {
			t.Errorf("without its key it says %v", err)
		}
	}
	if keys := two.Keys(); len(keys) != 0 {
		t.Errorf("the other server was asked with %q", keys)
	}
	b, err = r.Change(t.Context(), backendstest.Admin, "office", backends.Edit{Key: backendstest.P("short")})
	if err != nil || !b.HasKey() || b.KeyEnd != "" {
		t.Errorf("a short key: %+v, %v", b, err)
	}
	if _, err = r.Change(t.Context(), backendstest.Admin, "office", backends.Edit{Key: backendstest.P("")}); err != nil {
		t.Error(err)
	}
	if rows, _, _ = store.Backends(t.Context()); rows[1].Sealed != nil {
		t.Error("a key that was taken away is there")
	}
}

func TestOnlyAdministratorsSeeAndChangeBackends(t *testing.T) {
	t.Parallel()
	server := backendstest.Serve(t, "one")
	r := backendstest.Open(t, backendstest.NewStore(), extractive.Model{})
	for _, role := range []identity.Role{identity.RoleUser, identity.RolePower, ""} {
		v := identity.Viewer{UserID: "u", Role: role}
		_, listed := r.List(t.Context(), v)
		_, added := r.Add(t.Context(), v, "office", office(server))
		_, changed := r.Change(t.Context(), v, backends.Environment, backends.Edit{Choosable: backendstest.P(true)})
		_, tested := r.Test(t.Context(), v, backends.Environment)
		_, told := r.Entries(t.Context(), v)
		for what, err := range map[string]error{
			"list": listed, "add": added, "change": changed, "test": tested, "entries": told,
			"remove": r.Remove(t.Context(), v, "office"), "default": r.MakeDefault(t.Context(), v, backends.Environment),
		} {
			if !errors.Is(err, fault.Forbidden) {
				t.Errorf("%s as %q: %v", what, role, err)
			}
		}
	}
	if keys := server.Keys(); len(keys) != 0 {
		t.Errorf("the server was asked %d times", len(keys))
	}
}

func TestWhatIsNoBackendIsRefusedWithItsField(t *testing.T) {
	t.Parallel()
	server := backendstest.Serve(t, "one")
	r := backendstest.Open(t, backendstest.NewStore(), extractive.Model{}, func(o *backends.Options) {
		o.Refuse = func(url string) error {
			if strings.Contains(url, "169.254") {
				return errors.New("it is nobody's")
			}
			return nil
		}
	})
	for name, c := range map[string]struct {
		name  string
		edit  backends.Edit
		field string
	}{
		"no name":         {"", backends.Edit{}, "name"},
		"a capital":       {"Office", backends.Edit{}, "name"},
		"a path":          {"a/b", backends.Edit{}, "name"},
		"the settings'":   {backends.Environment, backends.Edit{}, "name"},
		"no protocol":     {"x", backends.Edit{Protocol: backendstest.P("")}, "protocol"},
		"of this process": {"x", backends.Edit{Protocol: backendstest.P("extractive")}, "protocol"},
		"no server":       {"x", backends.Edit{Protocol: backendstest.P("vllm"), URL: backendstest.P("")}, "url"},
		"no URL":          {"x", backends.Edit{URL: backendstest.P("ftp://x")}, "url"},
		"a user in it":    {"x", backends.Edit{URL: backendstest.P("https://u:p@x")}, "url"},
		"a key in it":     {"x", backends.Edit{URL: backendstest.P("https://x/v1?key=1")}, "url"},
		"metadata":        {"x", backends.Edit{URL: backendstest.P("http://169.254.169.254/v1")}, "url"},
		"a price":         {"x", backends.Edit{Price: backendstest.P(&backends.Price{Input: -1})}, "price"},
		"tokens":          {"x", backends.Edit{MaxTokens: backendstest.P(-1)}, "max_tokens"},
		"a tier":          {"x", backends.Edit{Models: &map[string]string{"Big one": "m"}}, "models"},
		"a model":         {"x", backends.Edit{Model: backendstest.P("a\nb")}, "model"},
		"a key of words":  {"x", backends.Edit{Key: backendstest.P("two words")}, "api_key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := office(server)
			if c.edit.Protocol != nil {
				e.Protocol = c.edit.Protocol
			}
			if c.edit.URL != nil {
				e.URL = c.edit.URL
			}
			if c.edit.Model != nil {
				e.Model = c.edit.Model
			}
			if c.edit.Key != nil {
				e.Key = c.edit.Key
			}
			e.Price, e.MaxTokens, e.Models = c.edit.Price, c.edit.MaxTokens, c.edit.Models
			_, err := r.Add(t.Context(), backendstest.Admin, c.name, e)
			f := fault.From(err)
			if details, _ := f.Details.(map[string]any); f.Code != fault.Invalid || details["field"] != c.field {
				t.Errorf("%v, %v", err, f.Details)
			}
		})
	}
	if _, err := r.Change(t.Context(), backendstest.Admin, backends.Environment, backends.Edit{Title: backendstest.P("mine")}); !errors.Is(err, fault.Invalid) {
		t.Errorf("the environment's was changed: %v", err)
	}
	if err := r.Remove(t.Context(), backendstest.Admin, backends.Environment); !errors.Is(err, fault.Invalid) {
		t.Errorf("the environment's was removed: %v", err)
	}
}

func TestPeopleChooseAmongThoseTheyMay(t *testing.T) {
	t.Parallel()
	server := backendstest.Serve(t, "one")
	r := backendstest.Open(t, backendstest.NewStore(), extractive.Model{})
	offered := func() (names []string) {
		for _, o := range r.Options() {
			names = append(names, o.Name)
		}
		return names
	}
	for _, name := range []string{"zoo", "lab"} {
		e := office(server)
		e.Title = backendstest.P(name)
		_, err := r.Add(t.Context(), backendstest.Admin, name, e)
		need(t, err)
	}
	if got := offered(); len(got) != 0 {
		t.Errorf("nothing may be chosen, and offered are %v", got)
	}
	if err := r.MayChoose(t.Context(), "lab"); !errors.Is(err, fault.Forbidden) {
		t.Errorf("lab: %v", err)
	}
	for _, name := range []string{"zoo", "lab"} {
		_, err := r.Change(t.Context(), backendstest.Admin, name, backends.Edit{Choosable: backendstest.P(true)})
		need(t, err)
	}
	if got := offered(); !slices.Equal(got, []string{"environment", "lab", "zoo"}) {
		t.Errorf("offered are %v", got)
	}
	need(t, r.MakeDefault(t.Context(), backendstest.Admin, "zoo"))
	if got := offered(); !slices.Equal(got, []string{"zoo", "lab"}) {
		t.Errorf("offered are %v", got)
	}
	if err := r.MayChoose(t.Context(), backends.Environment); !errors.Is(err, fault.Forbidden) {
		t.Errorf("the environment's is not offered any more: %v", err)
	}
	if err := r.MayChoose(t.Context(), "nowhere"); fault.Reason(err) != "backend" {
		t.Errorf("nowhere: %v", err)
	}
}

func TestATestSaysWhatAnswered(t *testing.T) {
	t.Parallel()
	server := backendstest.Serve(t, "one")
	r := backendstest.Open(t, backendstest.NewStore(), extractive.Model{})
	_, err := r.Add(t.Context(), backendstest.Admin, "office", office(server))
	need(t, err)
	a, err := r.Test(t.Context(), backendstest.Admin, "office")
	if err != nil || !a.OK || a.Model != "tiny" || a.Text != "one as tiny" {
		t.Errorf("%+v, %v", a, err)
	}
	server.Close()
	if a, err = r.Test(t.Context(), backendstest.Admin, "office"); err != nil || a.OK || a.Says == "" || strings.Contains(a.Says, secret) {
		t.Errorf("with nobody there: %+v, %v", a, err)
	}
	if _, err = r.Test(t.Context(), backendstest.Admin, "nowhere"); !errors.Is(err, fault.NotFound) {
		t.Errorf("nowhere: %v", err)
	}
}

// Requirements: LORA-26
func TestTheModelOfARoleOnABackend(t *testing.T) {
	t.Parallel()
	all := model.Policy{
		Default:  model.Asking{Tier: "small", MaxTokens: 900},
		Backends: map[string]map[string]string{"openai": {"small": "gpt-small"}, "lab": {"small": "labs-small"}},
	}
	for name, c := range map[string]struct {
		served backends.Served
		want   string
	}{
		"one model":             {backends.Served{Name: "x", Protocol: "openai", One: "mine"}, " 900"},
		"its own tiers":         {backends.Served{Name: "lab", Protocol: "openai", Tiers: map[string]string{"small": "own-small"}}, "own-small 900"},
		"tiers before one":      {backends.Served{Name: "x", Protocol: "vllm", One: "mine", Tiers: map[string]string{"small": "own-small"}}, "own-small 900"},
		"a policy's, by name":   {backends.Served{Name: "lab", Protocol: "openai"}, "labs-small 900"},
		"those of its protocol": {backends.Served{Name: "x", Protocol: "openai"}, "gpt-small 900"},
		"nobody names any":      {backends.Served{Name: "x", Protocol: "vllm"}, " 900"},
		"its bound":             {backends.Served{Name: "x", Protocol: "vllm", MaxTokens: 100}, " 100"},
	} {
		got := c.served.Choose([]model.Policy{all}, "free", "chat")
		if text := fmt.Sprintf("%s %d", got.Model, got.MaxTokens); text != c.want {
			t.Errorf("%s: %q, want %q", name, text, c.want)
		}
	}
}

func TestNamesInGraphs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": " ", "gpt-4o": " gpt-4o", "@office": "office ", "@office/meta/llama": "office meta/llama"} {
		if backend, name := backends.Named(text); backend+" "+name != want {
			t.Errorf("%q is %q of %q", text, name, backend)
		}
	}
	names, found := backends.InGraph([]byte(`{"nodes":[{"model":"@b/x","inputs":{"model":"@a"}},{"inputs":{"model":"plain","text":"@c"}},{"model":"@a"}]}`))
	if !slices.Equal(names, []string{"a", "b"}) || found {
		t.Errorf("%v, %t", names, found)
	}
	if names, found = backends.InGraph([]byte(`{"nodes":[{"inputs":{"model":"${input.model}"}}]}`)); len(names) != 0 || !found {
		t.Errorf("%v, %t", names, found)
	}
}
