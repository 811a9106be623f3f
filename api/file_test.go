package api

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"liminal/internal/files"
	"liminal/internal/id"
	"liminal/internal/knowledge"
	"liminal/internal/knowledge/extract"
	"liminal/internal/quota"
	"liminal/internal/run"
)

// uploadRequest sends fields before the file, as pairs.
func (p *person) uploadRequest(name, body string, fields ...string) *http.Request {
	p.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	for i := 0; i+1 < len(fields); i += 2 {
		p.must(w.WriteField(fields[i], fields[i+1]))
	}
	part, err := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {fmt.Sprintf(`form-data; name="file"; filename=%q`, name)}, "Content-Type": {"text/html"}})
	p.must(err)
	_, err = part.Write([]byte(body))
	p.must(err)
	p.must(w.Close())
	r := p.request("POST", "/v1/files/upload", form.String())
	r.Header.Set("Content-Type", w.FormDataContentType())
	return r
}

func (p *person) upload(name, body string, fields ...string) *response {
	p.Helper()
	return p.send(p.uploadRequest(name, body, fields...))
}

// Requirements: FILE-01, FILE-02
func TestUploadStoresTheFileAndStartsReadingIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	c := ada.post("/v1/contexts", map[string]any{"name": "notes"}).ok()["id"].(string)
	got := ada.upload("notes.md", "# Hello", "context_id", c, "chunk_size", "64").ok()
	f, d := got["file"].(map[string]any), got["document"].(map[string]any)
	if f["path"] != "files/notes.md" || f["fs_path"] != "/users/"+ada.id+"/files/notes.md" || f["mime"] != "text/markdown" || f["size"] != 7.0 {
		t.Errorf("file = %v", f)
	}
	if d["context_id"] != c || d["chunk_size"] != 64.0 || d["run_id"] != got["run_id"] {
		t.Errorf("document = %v", d)
	}
	if r := ada.get("/v1/runs/" + got["run_id"].(string)).ok()["run"].(map[string]any); r["kind"] != "ingest" || r["workflow_id"] != "ingest:"+d["id"].(string) {
		t.Errorf("run = %v", r)
	}
	plain := ada.upload("alone.txt", "x").ok()
	if plain["document"] != nil || plain["run_id"] != nil {
		t.Errorf("without a context: %v", plain)
	}
	page := ada.get("/v1/files?limit=1").ok()
	if list := items(page); len(list) != 1 || list[0]["path"] != "files/alone.txt" || page["next_cursor"] == nil {
		t.Errorf("page = %v", page)
	}
	if list := items(ada.get("/v1/contexts/" + c + "/documents").ok()); len(list) != 1 || list[0]["title"] != "notes.md" {
		t.Errorf("documents = %v", list)
	}
}

// Requirements: FILE-03
func TestUploadsAboveThePlanAreRefused(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	limit := int(quota.PlanOf(quota.Free).MaxFileBytes)
	ada.upload("exact.txt", strings.Repeat("x", limit)).ok()
	for _, size := range []int{limit + 1, limit + uploadSpare*2} {
		r := ada.uploadRequest("big.txt", strings.Repeat("x", size))
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			continue // cut off while it was still sending, which is as good
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%d bytes: %d", size, resp.StatusCode)
		}
	}
	if list := items(ada.get("/v1/files").ok()); len(list) != 1 {
		t.Errorf("files = %v", list)
	}
}

// Requirements: FILE-04, FILE-06, FILE-10, API-13
func TestUploadsAreCheckedAndNamesMadeHarmless(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	limits := ada.get("/v1/files/limits").ok()
	if limits["max_bytes"] != float64(25<<20) || len(limits["extensions"].([]any)) != len(files.Extensions()) {
		t.Errorf("limits = %v", limits)
	}
	ada.upload("program.exe", "MZ").fails(400, "validation_error")
	for _, size := range []string{"63", "4001", "-1", "many", "64.5"} {
		ada.upload("a.txt", "x", "chunk_size", size).fails(400, "validation_error")
	}
	if got := ada.upload("../../../etc/passwd.txt", "x").ok()["file"].(map[string]any); got["path"] != "files/passwd.txt" {
		t.Errorf("file = %v", got)
	}
	if got := ada.upload(`C:\Users\a\nul.txt`, "x").ok()["file"].(map[string]any); got["path"] != "files/_nul.txt" {
		t.Errorf("file = %v", got)
	}
	ada.post("/v1/files/upload", `{}`).fails(400, "validation_error")
	ada.upload("a.txt", "x", "context_id", "7").fails(404, "not_found")
	if list := items(ada.get("/v1/files").ok()); len(list) != 2 {
		t.Errorf("refused uploads left files: %v", list)
	}
}

// Requirements: FILE-05
func TestDownloadsAreSignedAttachmentsForTenMinutes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, nobody := w.signUp("ada@example.org"), &person{world: w}
	ada.upload("seite ä.html", "<script>alert(1)</script>").ok()
	link := ada.post("/v1/files/link", map[string]any{"path": "files/seite ä.html"}).ok()
	expires, err := time.Parse(time.RFC3339, link["expires_at"].(string))
	if err != nil || time.Until(expires) > 10*time.Minute || time.Until(expires) < 9*time.Minute {
		t.Errorf("expires %v, %v", expires, err)
	}
	url := link["url"].(string)
	got := nobody.get(url)
	if got.status != 200 || string(got.body) != "<script>alert(1)</script>" {
		t.Fatalf("download: %d %s", got.status, got.body)
	}
	if got.header.Get("Content-Disposition") != "attachment; filename*=UTF-8''seite%20%C3%A4.html" ||
		got.header.Get("X-Content-Type-Options") != "nosniff" || got.header.Get("Content-Type") != "application/octet-stream" {
		t.Errorf("headers: %v", got.header)
	}
	nobody.get(strings.Replace(url, "expires=", "expires=9", 1)).fails(403, "forbidden")
	nobody.get("/v1/files/download").fails(403, "forbidden")
	w.server.Now = func() time.Time { return time.Now().Add(11 * time.Minute) }
	nobody.get(url).fails(403, "forbidden")
}

// Requirements: RAG-20
func TestDeletingAFileDeletesWhatWasReadFromIt(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	c := ada.post("/v1/contexts", map[string]any{"name": "notes"}).ok()["id"].(string)
	d := ada.upload("a.md", "x", "context_id", c).ok()["document"].(map[string]any)["id"].(string)
	ada.upload("b.md", "y", "context_id", c).ok()
	ada.do("DELETE", "/v1/files?path=files/a.md", nil).ok()
	ada.get("/v1/documents/"+d).fails(404, "not_found")
	if list := items(ada.get("/v1/contexts/" + c + "/documents").ok()); len(list) != 1 {
		t.Errorf("documents = %v", list)
	}
	ada.do("DELETE", "/v1/files?path=files/a.md", nil).fails(404, "not_found")
	ada.do("DELETE", "/v1/files?path=..%2F..%2Fx", nil).fails(404, "not_found")
}

// The plan's rate is what holds unless the installation has chosen another.
//
// Requirements: FILE-08
func TestTooManyUploadsAreRateLimited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	w.server.Limits = quota.NewLimits(frozen{w.memory})
	w.server.Intake.PerMinute = 12
	for i := range 12 { // more than the ten there used to be
		ada.upload(fmt.Sprintf("%d.txt", i), "x").ok()
	}
	ada.upload("more.txt", "x").fails(429, "rate_limited")
	w.server.Intake.PerMinute = 0 // the plan's: 600, of which twelve are spent
	w.server.Limits = quota.NewLimits(frozen{w.memory})
	w.signUp("bob@example.org").upload("more.txt", "x").ok()
}

// Whoever sends faster than is read is told when to come again, before the file
// is looked at; what others send is not held up, and once something has been read
// there is room.
//
// Requirements: FILE-08, API-16
func TestAnUploadWaitsWhileEnoughIsUnderWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *Options) { o.Intake = quota.Intake{Documents: 3} })
	ada, bob := w.signUp("ada@example.org"), w.signUp("bob@example.org")
	c := ada.post("/v1/contexts", map[string]any{"name": "notes"}).ok()["id"].(string)
	var last run.Run
	for range 3 {
		last = run.Run{ID: id.New(), Kind: run.KindIngest, WorkflowID: "ingest:" + id.New(), UserID: ada.id, Status: run.Running}
		w.must(w.store.CreateRun(t.Context(), ada.viewer(), last))
	}
	full := ada.upload("program.exe", strings.Repeat("x", 1<<20), "context_id", c) // a file that is refused anyway is not looked at
	full.fails(429, "rate_limited")
	if got := full.header.Get("Retry-After"); got != "1" {
		t.Errorf("Retry-After is %q", got)
	}
	bob.upload("a.md", "x").ok()
	if list := items(ada.get("/v1/files").ok()); len(list) != 0 {
		t.Errorf("what was refused left files: %v", list)
	}
	w.must(w.store.EndRun(t.Context(), ada.viewer(), last.ID, run.End{Status: run.Done}))
	ada.upload("a.md", "x", "context_id", c).ok()
}

// Requirements: FILE-08, API-16
func TestAFifthUploadAtTheSameMomentIsToldToWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	var release func()
	for range maxUploads {
		var err error
		release, err = w.server.Limits.Hold(t.Context(), "uploads", ada.id, maxUploads)
		w.must(err)
	}
	got := ada.upload("a.md", "x")
	got.fails(429, "rate_limited")
	if after := got.header.Get("Retry-After"); after != "1" {
		t.Errorf("Retry-After is %q", after)
	}
	release()
	ada.upload("a.md", "x").ok()
}

// Requirements: FILE-08
func TestAnUploadWaitsForTheBytesThatAreUnderWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *Options) { o.Intake = quota.Intake{Bytes: 2 << 20} })
	ada := w.signUp("ada@example.org")
	c := ada.post("/v1/contexts", map[string]any{"name": "notes"}).ok()["id"].(string)
	first := ada.upload("large.md", strings.Repeat("x", 3<<20), "context_id", c).ok()["document"].(map[string]any) // alone it may
	ada.upload("small.md", "x", "context_id", c).fails(429, "rate_limited")
	w.must(w.store.SetDocument(t.Context(), ada.viewer(), knowledge.Document{ID: first["id"].(string), Status: knowledge.Ready}))
	ada.upload("small.md", "x", "context_id", c).ok()
}

// Requirements: RAG-15
func TestAFolderBringsAllThatIsBelowIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	for _, path := range []string{"files/law/a.md", "files/law/old/b.md", "files/law/old/older/c.md", "files/lawless.md"} {
		w.must(w.store.PutFile(t.Context(), ada.viewer(), files.File{Path: path, Name: path, MIME: "text/markdown", Size: 1}, files.Bounds{}))
	}
	for _, c := range []struct {
		body map[string]any
		want float64
	}{
		{map[string]any{"name": "all", "paths": []string{"files/law"}}, 3},
		{map[string]any{"name": "slash", "paths": []string{"files/law/old/"}}, 2},
		{map[string]any{"name": "flat", "paths": []string{"files/law"}, "recursive": false}, 1},
	} {
		if made := ada.post("/v1/contexts", c.body).ok(); made["documents"] != c.want {
			t.Errorf("%v has %v documents, want %v", c.body, made["documents"], c.want)
		}
	}
}

// Requirements: RAG-01
func TestContextsAreMadeOfFilesAndListed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	ada.upload("a.md", "x").ok()
	made := ada.post("/v1/contexts", map[string]any{"name": " notes ", "description": "d", "paths": []string{"files/a.md"}}).ok()
	if made["name"] != "notes" || made["mine"] != true || made["visibility"] != "private" || made["documents"] != 1.0 {
		t.Errorf("made = %v", made)
	}
	ada.post("/v1/contexts", map[string]any{"name": " "}).fails(400, "validation_error")
	ada.post("/v1/contexts", map[string]any{"name": "x", "paths": []string{"files/none.md"}}).fails(404, "not_found")
	_, err := w.store.CreateContext(t.Context(), ada.viewer(), knowledge.Context{Name: "second", UserID: ada.id, Visibility: "private"})
	w.must(err)
	if list := items(ada.get("/v1/contexts?owner=me").ok()); len(list) != 2 {
		t.Errorf("contexts = %v", list)
	}
	if list := items(ada.get("/v1/contexts?owner=global").ok()); len(list) != 0 {
		t.Errorf("global contexts = %v", list)
	}
	of := "/v1/contexts/" + made["id"].(string)
	if list := items(ada.get(of + "/chunks").ok()); len(list) != 0 {
		t.Errorf("chunks = %v", list)
	}
	ada.do("DELETE", of, nil).ok()
	ada.get(of).fails(404, "not_found")
	if list := items(ada.get("/v1/files").ok()); len(list) != 1 {
		t.Errorf("the file went with its context: %v", list)
	}
}

// Requirements: UI-10
func TestAContextIsCalledSomethingElseAndTellsItsSources(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	ada.upload("a.md", "x").ok()
	made := ada.post("/v1/contexts", map[string]any{"name": "notes", "description": "d", "paths": []string{"files/"}, "recursive": false}).ok()
	of := "/v1/contexts/" + made["id"].(string)
	if got := fmt.Sprint(ada.get(of).ok()["sources"]); got != "[map[path:files recursive:false]]" {
		t.Errorf("sources = %v", got)
	}
	named := ada.do("PATCH", of, map[string]any{"name": " Notes of May "}).ok()
	if named["name"] != "Notes of May" || named["description"] != "d" || named["documents"] != 1.0 || len(named["sources"].([]any)) != 1 {
		t.Errorf("renamed = %v", named)
	}
	if got := ada.do("PATCH", of, map[string]any{"description": ""}).ok(); got["name"] != "Notes of May" || got["description"] != "" {
		t.Errorf("described = %v", got)
	}
	for _, wrong := range []map[string]any{{"name": " "}, {"name": strings.Repeat("x", 201)}, {"description": strings.Repeat("x", 2001)}} {
		ada.do("PATCH", of, wrong).fails(400, "validation_error")
	}
	ada.do("PATCH", "/v1/contexts/"+id.New(), map[string]any{"name": "x"}).fails(404, "not_found")
}

func TestAPassageIsExactlyTheBytesThatWereCited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	c := ada.post("/v1/contexts", map[string]any{"name": "notes"}).ok()["id"].(string)
	d := ada.upload("a.md", "x", "context_id", c).ok()["document"].(map[string]any)["id"].(string)
	text := "Über Öl.\nEin Satz – mit Strich.\nSchluss."
	start := strings.Index(text, "Ein")
	end := strings.Index(text, "\nSchluss")
	w.must(w.store.PutText(t.Context(), ada.viewer(), d, extract.Document{Text: text, Blocks: []extract.Block{
		{Start: 0, End: start, Heading: "Eins", Page: 1}, {Start: start, End: len(text), Heading: "Zwei", Page: 2},
	}}))
	got := ada.get(fmt.Sprintf("/v1/documents/%s/text?start=%d&end=%d&margin=9", d, start, end)).ok()
	if got["quote"] != "Ein Satz – mit Strich." || got["heading"] != "Zwei" || got["page"] != 2.0 || got["length"] != float64(len(text)) ||
		got["before"] != "ber Öl.\n" || got["after"] != "\nSchluss." {
		t.Errorf("passage = %v", got)
	}
	for _, q := range []string{"start=5&end=4", "start=0&end=9999", "start=-1", "margin=x"} {
		ada.get("/v1/documents/"+d+"/text?"+q).fails(400, "validation_error")
	}
}

func TestABrokenUploadIsAPersonsFault(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	r := ada.uploadRequest("a.txt", "complete")
	whole := new(bytes.Buffer)
	_, err := whole.ReadFrom(r.Body)
	w.must(err)
	cut := ada.request("POST", "/v1/files/upload", whole.String()[:whole.Len()-30])
	cut.Header.Set("Content-Type", r.Header.Get("Content-Type"))
	ada.send(cut).fails(400, "validation_error")
	left, err := filepath.Glob(filepath.Join(w.TempDir(), "..", "*", "users", ada.id, "*", "*"))
	w.must(err)
	for _, path := range left {
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			t.Errorf("left behind: %s", path)
		}
	}
}
