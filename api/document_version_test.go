package api

import (
	"net/url"
	"strings"
	"testing"

	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/knowledge/extract"
)

// ready makes a document what it is when its run has ended.
func (p *person) ready(document string) {
	p.Helper()
	p.must(p.store.PutText(p.Context(), p.viewer(), document, extract.Document{Text: "what was read"}))
	p.must(p.store.SetDocument(p.Context(), p.viewer(), knowledge.Document{ID: document, Status: knowledge.Ready, Chunks: 1}))
	_, err := p.store.Supersede(p.Context(), p.viewer(), document)
	p.must(err)
}

// Requirements: FILE-01, FILE-05
func TestAChangedFileReplacesTheVersionBefore(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	c := ada.post("/v1/contexts", map[string]any{"name": "notes"}).ok()["id"].(string)
	put := func(text string, fields ...string) (id string, all map[string]any) {
		got := ada.upload("fares.md", text, append(fields, "context_id", c)...).ok()
		id = got["document"].(map[string]any)["id"].(string)
		ada.ready(id)
		return id, got
	}
	listed := func() (ids []string) {
		for _, d := range items(ada.get("/v1/contexts/" + c + "/documents").ok()) {
			ids = append(ids, d["id"].(string))
		}
		return ids
	}
	one, first := put("four")
	if same, again := put("four"); same != one || first["replaces"] != nil || again["replaces"] != nil {
		t.Errorf("the same file twice: %v, %v", first, again)
	}
	two, changed := put("five")
	if replaced, _ := changed["replaces"].(map[string]any); replaced["document_id"] != one || replaced["created_at"] == nil {
		t.Errorf("it replaces %v", changed["replaces"])
	}
	if got := listed(); len(got) != 1 || got[0] != two {
		t.Errorf("documents are %v, want %s", got, two)
	}
	old := ada.get("/v1/documents/" + one).ok()
	if old["superseded_at"] == nil || old["current_id"] != two {
		t.Errorf("the old version is %v", old)
	}
	if text := ada.get("/v1/documents/" + one + "/text").ok(); text["quote"] != "what was read" || text["current_id"] != two {
		t.Errorf("its text is %v", text)
	}
	if list := items(ada.get("/v1/documents/" + one + "/versions").ok()); len(list) != 2 || list[0]["id"] != two || list[0]["former_versions"] != 1.0 {
		t.Errorf("versions are %v", list)
	}
	for id, want := range map[string]string{one: "four", two: "five"} {
		got := ada.get(ada.post("/v1/documents/"+id+"/link", map[string]any{}).ok()["url"].(string))
		if string(got.body) != want || got.header.Get("Content-Disposition") != "attachment; filename*=UTF-8''fares.md" {
			t.Errorf("%s is downloaded as %q, %q", want, got.body, got.header.Get("Content-Disposition"))
		}
	}

	both, kept := put("six", "keep_both", "true")
	if kept["replaces"] != nil || len(listed()) != 2 {
		t.Errorf("kept beside it: %v, %v", kept, listed())
	}
	ada.upload("fares.md", "x", "context_id", c, "keep_both", "perhaps").fails(400, "validation_error")
	if elsewhere := ada.upload("fares.md", "seven", "context_id", c, "origin", "summer/fares.md").ok(); elsewhere["replaces"] != nil {
		t.Errorf("from another folder: %v", elsewhere["replaces"])
	}

	if back := ada.post("/v1/documents/"+one+"/restore", nil).ok(); back["status"] != "waiting" || back["run_id"] == nil {
		t.Errorf("put back: %v", back)
	}
	ada.ready(one)
	if got := ada.get("/v1/documents/" + two).ok(); got["current_id"] != one {
		t.Errorf("after that the second is %v", got)
	}
	ada.do("DELETE", "/v1/documents/"+one, nil).ok()
	ada.get("/v1/documents/"+two).fails(404, "not_found")
	ada.get("/v1/documents/" + both).ok()
}

// Requirements: RAG-20
func TestDeletingAFileDeletesTheVersionReadFromIt(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	c := ada.post("/v1/contexts", map[string]any{"name": "notes"}).ok()["id"].(string)
	var ids, paths []string
	for _, text := range []string{"four", "five"} {
		got := ada.upload("fares.md", text, "context_id", c).ok()
		ids = append(ids, got["document"].(map[string]any)["id"].(string))
		paths = append(paths, got["file"].(map[string]any)["path"].(string))
		ada.ready(ids[len(ids)-1])
	}
	ada.do("DELETE", "/v1/files?path="+url.QueryEscape(paths[0]), nil).ok()
	ada.get("/v1/documents/"+ids[0]).fails(404, "not_found")
	ada.get("/v1/documents/" + ids[1]).ok()
	ada.do("DELETE", "/v1/files?path="+url.QueryEscape(paths[1]), nil).ok()
	ada.get("/v1/documents/"+ids[1]).fails(404, "not_found")
}

// Requirements: FILE-05
func TestOnlyAPDFIsShownInline(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.signUp("admin@example.org")
	ada := w.signUp("ada@example.org")
	c := ada.post("/v1/contexts", map[string]any{"name": "notes"}).ok()["id"].(string)
	for name, want := range map[string]string{"a.pdf": "inline", "b.pdf": "attachment", "c.html": "attachment"} {
		body := map[string]string{"a.pdf": "%PDF-1.4 rest", "b.pdf": "<script>alert(1)</script>", "c.html": "%PDF-<script>"}[name]
		d := ada.upload(name, body, "context_id", c).ok()["document"].(map[string]any)["id"].(string)
		link := ada.post("/v1/documents/"+d+"/link", map[string]any{"inline": true}).ok()["url"].(string)
		got := (&person{world: w}).get(link)
		disposition, _, _ := strings.Cut(got.header.Get("Content-Disposition"), ";")
		kind := map[string]string{"inline": "application/pdf", "attachment": "application/octet-stream"}[want]
		if disposition != want || got.header.Get("Content-Type") != kind || got.header.Get("X-Content-Type-Options") != "nosniff" ||
			!strings.HasPrefix(got.header.Get("Content-Security-Policy"), "default-src 'none';") {
			t.Errorf("%s: %v", name, got.header)
		}
		(&person{world: w}).get(strings.Replace(link, "name=", "name=x", 1)).fails(403, "forbidden")
		ada.do("DELETE", "/v1/files?path=files/"+name, nil).ok()
		ada.get(link).fails(404, "not_found")
	}
}

// What everybody may read everybody may download, and what is nobody else's
// stays so.
//
// Requirements: ISO-01
func TestTheFileOfAGlobalDocumentIsForEverybody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, ada := w.signUp("admin@example.org"), w.signUp("ada@example.org")
	v := admin.viewer()
	v.Role = identity.RoleAdmin
	c, err := w.store.CreateContext(t.Context(), v, knowledge.Context{Name: "law", Visibility: "global"})
	w.must(err)
	d := admin.upload("law.md", "the law", "context_id", c.ID).ok()["document"].(map[string]any)["id"].(string)
	got := ada.get(ada.post("/v1/documents/"+d+"/link", map[string]any{}).ok()["url"].(string))
	if string(got.body) != "the law" {
		t.Errorf("%d %s", got.status, got.body)
	}
	ada.post("/v1/documents/"+d+"/restore", nil).fails(403, "forbidden")
	own := admin.post("/v1/contexts", map[string]any{"name": "notes"}).ok()["id"].(string)
	secret := admin.upload("own.md", "own", "context_id", own).ok()["document"].(map[string]any)["id"].(string)
	ada.post("/v1/documents/"+secret+"/link", map[string]any{}).fails(404, "not_found")
}

// Requirements: UI-07 (shown)
func TestAPassageComesWithItsPage(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	c := ada.post("/v1/contexts", map[string]any{"name": "notes"}).ok()["id"].(string)
	d := ada.upload("a.md", "x", "context_id", c).ok()["document"].(map[string]any)["id"].(string)
	x := extract.Document{Text: "One.\n\nTwo, äh.\n\nThree.\n\nFour.", Pages: 3, Blocks: []extract.Block{
		{Start: 0, End: 4, Page: 1}, {Start: 6, End: 15, Page: 2}, {Start: 17, End: 23, Page: 2}, {Start: 25, End: 30, Page: 3},
	}}
	ada.must(ada.store.PutText(t.Context(), ada.viewer(), d, x))
	for _, one := range []struct{ query, before, quote, after string }{
		{"start=17&end=23&around=page", "Two, äh.\n\n", "Three.", ""},
		{"start=6&end=30&around=page", "", "Two, äh.\n\nThree.\n\nFour.", ""},
		{"start=17&end=23&around=margin&margin=2", "\n\n", "Three.", "\n\n"},
	} {
		got := ada.get("/v1/documents/" + d + "/text?" + one.query).ok()
		if got["before"] != one.before || got["quote"] != one.quote || got["after"] != one.after || got["page"] != 2.0 || got["pages"] != 3.0 {
			t.Errorf("%s: %v", one.query, got)
		}
	}
	ada.must(ada.store.PutText(t.Context(), ada.viewer(), d, extract.Document{Text: "no pages here", Blocks: []extract.Block{{Start: 0, End: 13}}}))
	if got := ada.get("/v1/documents/" + d + "/text?start=3&end=8&around=page&margin=3").ok(); got["before"] != "no " || got["after"] != " he" {
		t.Errorf("without pages: %v", got)
	}
	ada.get("/v1/documents/"+d+"/text?around=book").fails(400, "validation_error")
}
