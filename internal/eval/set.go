// Package eval measures how well questions find the passages that answer
// them: each way of searching by itself, and what a person gets in the end.
//
// It builds the real thing for it, a library over SQLite in a scratch folder,
// and may import whatever that takes.
package eval

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Set is questions about some documents, as a folder holds them.
type Set struct {
	Name      string   `json:"-"` // of the folder
	Title     string   `json:"title"`
	Corpus    string   `json:"corpus"`    // a place named from outside; "": the set's own folder
	Folder    string   `json:"folder"`    // below that place
	Documents []string `json:"documents"` // files in it
	License   string   `json:"license"`
	// Asks is what the set is for: "" measures the search, "answers" what is
	// answered in the end. Answers can be asked of any set.
	Asks      string `json:"asks"`
	Questions []Question
	root      string // where the documents lie
}

// Question is one question and the passage that answers it.
type Question struct {
	Text     string `json:"question"`
	Document string `json:"document"`
	Passage  string `json:"passage"` // stands in the document once, by letters and digits
	Page     int    `json:"page,omitempty"`
	// Apart says that question and passage have no word in common.
	Apart bool `json:"apart,omitempty"`
	// Also are other words that answer it as well, wherever they stand.
	Also []string `json:"also,omitempty"`
}

// OffTopic reports whether the documents do not answer a question.
func (q Question) OffTopic() bool { return q.Document == "" }

// forAnswers is the Asks of a set that measures answers.
const forAnswers = "answers"

// Load reads the sets below dir that measure the search, or dir itself if it is
// one. Places are the folders of corpora that sets name. A set whose texts are
// not on this machine is passed over: notices says why, in a sentence each.
func Load(dir string, places map[string]string) (sets []Set, notices []string, err error) {
	sets, notices, err = LoadAnswers(dir, places)
	sets = slices.DeleteFunc(sets, func(s Set) bool { return s.Asks == forAnswers })
	return sets, notices, err
}

// LoadAnswers is Load of all sets: each can be asked for its answers.
func LoadAnswers(dir string, places map[string]string) (sets []Set, notices []string, err error) {
	manifests, err := filepath.Glob(filepath.Join(dir, "*", "set.json"))
	if err != nil {
		return nil, nil, err
	}
	if _, err := os.Stat(filepath.Join(dir, "set.json")); err == nil {
		manifests = append(manifests, filepath.Join(dir, "set.json"))
	}
	if len(manifests) == 0 {
		return nil, nil, fmt.Errorf("%s holds no set of questions: that is a folder with a set.json and a questions.jsonl", dir)
	}
	slices.Sort(manifests)
	for _, path := range manifests {
		s, notice, err := load(filepath.Dir(path), places)
		switch {
		case err != nil:
			return nil, nil, err
		case notice != "":
			notices = append(notices, notice)
		default:
			sets = append(sets, s)
		}
	}
	return sets, notices, nil
}

func load(dir string, places map[string]string) (s Set, notice string, err error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return s, "", err
	}
	raw, err := os.ReadFile(filepath.Join(dir, "set.json"))
	if err != nil {
		return s, "", err
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return s, "", fmt.Errorf("%s: %w", filepath.Join(dir, "set.json"), err)
	}
	s.Name = filepath.Base(abs)
	place := abs
	if s.Corpus != "" {
		if place = places[s.Corpus]; place == "" {
			return s, fmt.Sprintf("%s is passed over: its texts are not known here; name their folder with --corpus %s=FOLDER.", s.Name, s.Corpus), nil
		}
	}
	s.root = filepath.Join(place, filepath.FromSlash(s.Folder))
	for _, d := range s.Documents {
		_, err := os.Stat(filepath.Join(s.root, d))
		if errors.Is(err, fs.ErrNotExist) && s.Corpus != "" {
			return s, fmt.Sprintf("%s is passed over: %s is not in %s.", s.Name, d, s.root), nil
		}
		if err != nil {
			return s, "", err
		}
	}
	s.Questions, err = questions(filepath.Join(dir, "questions.jsonl"), s)
	return s, "", err
}

func questions(path string, s Set) ([]Question, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var out []Question
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		var q Question
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", path, n, err)
		}
		off := s.Asks == forAnswers && q.OffTopic() && q.Passage == ""
		if q.Text == "" || !off && (q.Passage == "" || !slices.Contains(s.Documents, q.Document)) {
			return nil, fmt.Errorf("%s, line %d: a question needs its text, a passage, and a document of the set", path, n)
		}
		out = append(out, q)
	}
	return out, lines.Err()
}
