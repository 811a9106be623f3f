// Package builtin is the tools the program implements: one tool is a Go file
// and a JSON file of its name, the second being its tool.spec, and one line in
// the list below.
//
// It may import every noun and artifacts, and no driver: what a tool needs of
// the outside is a small port in ports.go, which wire fills.
package builtin

import (
	"embed"
	"fmt"
	"io/fs"

	"liminal/internal/tool"
)

//go:embed *.json
var documents embed.FS

// list makes every tool whose needs are met; a tool that lacks its port is not
// there, and calling it is NotFound.
func list(p Parts) []tool.Tool {
	absent := map[string]bool{} // filled below, when the list is complete
	tools := []tool.Tool{setValue{}, wait{}, pick{}, mentions{}, scan{}, query{}}
	if p.Model != nil {
		v := newCompleter(p)
		tools = append(tools, genericChat{v}, intentClassifier{v}, step{v, p.Catalog, absent}, compose{v}, decide{v})
	}
	if p.Model != nil && p.Memories != nil && p.History != nil {
		tools = append(tools, summarize{newCompleter(p)})
	}
	if p.Feedback != nil && p.History != nil {
		tools = append(tools, hearFeedback{p.History}, noteFeedback{p.History, p.Feedback})
	}
	if p.Titles != nil {
		tools = append(tools, findDocuments{p.Titles, p.Sets}, matchDocuments{p.Titles})
	}
	if p.Progress != nil {
		tools = append(tools, awaitDocuments{p.Progress})
	}
	if p.Search != nil {
		tools = append(tools, search{p.Search, p.Rerank}, gather{search{p.Search, p.Rerank}})
		if p.Model != nil {
			tools = append(tools, answerWithContext{newCompleter(p), search{p.Search, p.Rerank}})
		}
	}
	if p.Intake != nil && p.Files != nil {
		tools = append(tools, parse{p.Intake, p.Files}, chunk{p.Intake}, index{p.Intake}, fail{p.Intake})
		tools = append(tools, extractText{p.Intake, p.Files}, parseFile{p.Intake}, accept{p.Intake}, clean{p.Intake})
		tools = append(tools, cut{p.Intake}, embedBatch{p.Intake}, indexBatch{p.Intake}, finish{p.Intake})
	}
	if p.Files != nil {
		tools = append(tools, listFiles{p.Files}, listFolder{p.Files}, searchFiles{p.Files}, readFile{p.Files}, writeFile{p.Files, p.Plans})
	}
	if p.Files != nil && p.Transcriber != nil {
		tools = append(tools, transcribe{p.Files, p.Transcriber})
	}
	if p.Files != nil && p.Speaker != nil {
		tools = append(tools, synthesize{p.Files, p.Plans, p.Speaker, p.Voices})
	}
	if p.Catalog != nil {
		tools = append(tools, listArtifacts{p.Catalog, absent}, readArtifact{p.Catalog})
	}
	if p.Web != nil {
		tools = append(tools, fetch{p.Web})
	}
	if p.Servers != nil || p.Connections != nil {
		tools = append(tools, callHTTP{p.Servers, p.Secrets, p.Connections})
	}
	if p.MCP != nil && p.MCPImport != nil {
		tools = append(tools, callMCP{p.MCP, p.MCPImport.Drift}, importMCP{p.MCPImport})
	}
	if p.Sources != nil && p.People != nil {
		tools = append(tools, readSource{p.Sources, p.People})
	}
	if p.WebSearch != nil {
		tools = append(tools, searchWeb{p.WebSearch})
	}
	if p.Desk != nil {
		tools = append(tools, checkPatch{p.Desk}, rehearsePatch{p.Desk}, expirePatch{p.Desk}, watchPatch{p.Desk})
	}
	if p.Architect != nil {
		thinks := p.Model != nil && p.Model.Generative()
		tools = append(tools, figures{p.Architect, thinks}, rules{p.Architect}, propose{p.Architect})
	}
	tools = append(tools, learningTools(p)...)
	tools = append(tools, trainingTools(p)...)
	tools = append(tools, palaceTools(p)...)
	mark(absent, tools)
	return tools
}

// mark names the tools that have a spec here and whose needs are not met.
// Graphs may name them, for another day; models are not offered them.
func mark(absent map[string]bool, tools []tool.Tool) {
	specs, err := Specs()
	if err != nil {
		return // a test reads them all
	}
	for _, s := range specs {
		absent[s.Name] = s.Workflow == ""
	}
	for _, t := range tools {
		absent[t.Name()] = false
	}
}

// Tools are the built-in tools over what parts there are.
func Tools(p Parts) []tool.Tool { return list(p) }

// Specs are the tool.specs of all built-in tools, by name; some have no Go
// code because a workflow implements them.
func Specs() ([]tool.Spec, error) {
	names, err := fs.Glob(documents, "*.json")
	if err != nil {
		return nil, err
	}
	specs := make([]tool.Spec, 0, len(names))
	for _, name := range names {
		doc, err := documents.ReadFile(name)
		if err != nil {
			return nil, err
		}
		spec, err := tool.Decode(doc)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		specs = append(specs, spec)
	}
	return specs, nil
}
