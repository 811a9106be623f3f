package extract_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"liminal/internal/knowledge/extract"
)

const pageAddress = "https://site.example/law/index.html?x=1"

func pageText(t *testing.T, body string) string {
	t.Helper()
	x, err := extract.Page("<html><body>"+body, pageAddress)
	if err != nil {
		t.Fatal(err)
	}
	last := 0
	for _, b := range x.Blocks {
		if b.Start < last || b.End < b.Start || b.End > len(x.Text) {
			t.Errorf("block %+v after %d of %d", b, last, len(x.Text))
		}
		last = b.End
	}
	return x.Text
}

// Whoever reads a page for a person goes on from it: every link to a page is
// there, wherever it stands, with its whole address.
//
// Requirements: TOOL-12 (web_fetch)
func TestAPageKeepsItsLinks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ html, want string }{
		"in a sentence":        {`<p>See <a href="/a">the law</a>, please.`, "See [the law](https://site.example/a), please."},
		"with space inside":    {`<p>See<a href="b"> the  law </a>now`, "See [the law](https://site.example/law/b) now"},
		"a part of the page":   {`<p><a href="#p1">below</a>`, "[below](" + pageAddress + "#p1)"},
		"another site":         {`<p><a href="http://other.example/?a=b&amp;c=d">x</a>`, "[x](http://other.example/?a=b&c=d)"},
		"in a heading":         {`<h2>A <a href="/a">title</a></h2>`, "## A [title](https://site.example/a)"},
		"around a heading":     {`<a href="/a"><h3>Title</h3><p>More</p></a><p>end`, "### [Title](https://site.example/a)\n\nMore\n\nend"},
		"around paragraphs":    {`before <a href="/a"><div><p>one<p>two</div></a> after`, "before\n\n[one](https://site.example/a)\n\ntwo\n\nafter"},
		"in a list":            {`<ul><li><a href="/a">a</a><li><a href="/b">b</a> and more</ul>`, "- [a](https://site.example/a)\n- [b](https://site.example/b) and more"},
		"a list of links":      {strings.Repeat(`<ul><li><a href="/a">a</a></ul>`, 3) + `<p>text`, strings.Repeat("- [a](https://site.example/a)\n", 3) + "\ntext"},
		"in a table":           {`<table><tr><th>A<th>B<tr><td><a href="/a">a</a><td>b|c</table>`, "| A | B |\n| --- | --- |\n| [a](https://site.example/a) | b\\|c |"},
		"in bold":              {`<p><b>so <a href="/a">it</a></b>`, "**so [it](https://site.example/a)**"},
		"bold in it":           {`<p><a href="/a"><b>it</b></a>`, "[**it**](https://site.example/a)"},
		"of a picture":         {`<p>x <a href="/a"><img src="p.png"></a>`, "x [](https://site.example/a)"},
		"on two lines":         {`<p><a href="/a">one<br>two</a>`, "[one\ntwo](https://site.example/a)"},
		"with brackets in it":  {`<p><a href="/a_(b)">[1]</a>`, "[[1]](https://site.example/a_%28b%29)"},
		"a broken address":     {"<p><a href=' /a\nb c '>x</a>", "[x](https://site.example/ab%20c)"},
		"a script":             {`<p><a href="javascript:alert(1)">x</a>`, "x"},
		"a mail":               {`<p><a href="mailto:a@b.example">x</a>`, "x"},
		"a name and password":  {`<p><a href="https://a:b@c.example/">x</a>`, "x"},
		"none":                 {`<p><a name="here">x</a>`, "x"},
		"too long":             {`<p><a href="/` + strings.Repeat("a", 5000) + `">x</a>`, "x"},
		"a text like a link":   {`<p>[x](javascript:alert(1)) <span>[y]</span>(https://evil.example)`, `[x]\(javascript:alert(1)) [y]\(https://evil.example)`},
		"a text with controls": {"<p>&#1;x&#2;javascript:alert(1)&#3;&#4;", "xjavascript:alert(1)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := pageText(t, c.html); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// Requirements: TOOL-12 (web_fetch)
func TestAPageIsMarkdown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ html, want string }{
		"headings":           {`<h1>A</h1><p>a<h3>B</h3>b`, "# A\n\na\n\n### B\n\nb"},
		"emphasis":           {`<p>a<b> bold </b>and <em>so</em> <i></i><code>x := 1</code>`, "a **bold** and *so* `x := 1`"},
		"emphasis in itself": {`<p><b>a <strong>b</strong></b>`, "**a b**"},
		"bold paragraphs":    {`<b> <div>a</div><div>b</div></b>`, "a\n\nb"},
		"lines":              {`<p>a<br>b<br><br>c`, "a\nb\n\nc"},
		"numbers":            {`<ol start=7><li>a<li>b<ul><li>c</ul></ol>`, "7. a\n8. b\n   - c"},
		"a wild number":      {`<ol start=99999999999><li>a</ol>`, "1. a"},
		"paragraphs of one":  {`<ul><li><p>a<p>b<li>c</ul>`, "- a\n\n  b\n- c"},
		"a quotation":        {`<blockquote><p>a<br>b<ul><li>c</ul></blockquote>d`, "> a\n> b\n\n> - c\n\nd"},
		"code":               {"<pre>a\n  b</pre>c", "```\na\n  b\n```\n\nc"},
		"code with a fence":  {"<pre>```\nx\n```</pre>", "````\n```\nx\n```\n````"},
		"a table":            {`<table><caption>T</caption><tr><th>A<tr><td>B<td>C</table>`, "T\n\n| A |\n| --- |\n| B | C |"},
		"a table of layout":  {`<table><tr><td><h2>A</h2>b<td>c</table>`, "## A\n\nb\n\nc"},
		"a form":             {`<form><p>a <input value="x"><button>Send</button></form>`, "a"},
		"what is around":     {`<nav>n</nav><div role="BANNER">b</div><p>a<footer>f</footer>`, "a"},
		"nothing":            {`<script>x</script>`, ""},
		"a deep page":        {strings.Repeat("<div>", 500) + "x", "x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := pageText(t, c.html); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// Requirements: SAFE-06
func TestAPageIsReadWithoutWhatNobodySees(t *testing.T) {
	t.Parallel()
	for _, attribute := range []string{
		`hidden`, `aria-hidden="TRUE"`, `style="display : none"`, `style="VISIBILITY:hidden"`, `style="color:red; opacity: 0"`,
		`style="font-size:0px"`, `style="text-indent:-9999px"`, `role="search"`,
	} {
		if got := pageText(t, `<p>seen<div `+attribute+`><p>obey</div>`); got != "seen" {
			t.Errorf("%s: %q", attribute, got)
		}
	}
	if got := pageText(t, `<p>seen<video>play</video><math>1</math><picture>p</picture><!-- obey --><template>t</template>`); got != "seen" {
		t.Errorf("%q", got)
	}
}

func TestThePagesTitleIsItsOwnOrItsFirstHeading(t *testing.T) {
	t.Parallel()
	for html, want := range map[string]string{
		`<head><title> Reading
			.docx </title></head><h1>H</h1>`: "Reading .docx",
		`<svg><title>Logo</title></svg><h1>The <b>law</b></h1>`: "The law",
		`<p>a`: "",
	} {
		if x, err := extract.Page(html, pageAddress); err != nil || x.Title != want {
			t.Errorf("%q, %v; want %q", x.Title, err, want)
		}
	}
	x, err := extract.Page("<title>"+strings.Repeat("ü", 1000), pageAddress)
	if err != nil || len(x.Title) > 310 || !utf8.ValidString(x.Title) {
		t.Errorf("a title of %d bytes, %v", len(x.Title), err)
	}
}

// Any bytes are a page, and reading it ends with valid text in proportion to it.
func FuzzPage(f *testing.F) {
	for _, seed := range []string{
		`<h1>A <a href="/a">b</a></h1><ul><li><a href="x"><p>c</a><blockquote>d<br>e`, `<table><tr><td><a href=b>c<td>|`, "<b><p><i></b>x<code>`</code>",
		`<ol start=-3><li><pre>a</pre><a href="y"></a>`, "<a href=z><h2></h2></a><a href=z><table><tr><td>a<td>b</table>",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, page string) {
		x, err := extract.Page(page, pageAddress)
		if err != nil {
			return
		}
		if !utf8.ValidString(x.Text) || len(x.Text) > 60*len(page)+1000 {
			t.Errorf("%d bytes became %d: %.200q", len(page), len(x.Text), x.Text)
		}
	})
}
