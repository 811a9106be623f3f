package builtin

import (
	"bufio"
	_ "embed" // errors.txt
	"fmt"
	"strings"
)

//go:embed errors.txt
var errorsText string

// Remark is what a spec has no place for: what a tool fails with, or needs.
type Remark struct {
	Code string `json:"code,omitempty"` // of the error; empty: When is what the tool needs
	When string `json:"when"`
}

// Remarks gives those of a tool, in the order of errors.txt. What holds for
// every tool is not among them (tool.Box.Call).
func Remarks(name string) ([]Remark, error) {
	var found []Remark
	lines := bufio.NewScanner(strings.NewReader(errorsText))
	for lines.Scan() {
		of, r, err := readRemark(lines.Text())
		if err != nil {
			return nil, err
		}
		prefix, several := strings.CutSuffix(of, "*")
		if of == name || several && strings.HasPrefix(name, prefix) {
			found = append(found, r)
		}
	}
	return found, lines.Err()
}

// readRemark reads a line; of is empty where it has none.
func readRemark(line string) (of string, r Remark, err error) {
	if line == "" || strings.HasPrefix(line, "#") {
		return "", Remark{}, nil
	}
	head, when, ok := strings.Cut(line, ": ")
	of, code, both := strings.Cut(head, " ")
	if !ok || !both || when == "" {
		return "", Remark{}, fmt.Errorf("errors.txt: %q is not TOOL CODE: when", line)
	}
	if code == "needs" {
		code = ""
	}
	return of, Remark{Code: code, When: when}, nil
}
