package view

import (
	"math"
	"slices"
	"strings"
)

// history is the blocks of a lineage with what follows for each of them from those
// behind it, so that every beginning of it can be asked.
type history struct {
	blocks []Block
	turns  []int // of the block: how many answers there were, with its own
	// same and shown are the first blocks behind each that say what it says, and that
	// show what it showed again; failed is the result of a use that was an error. never:
	// there is none.
	same, shown, failed []int
	refs                [][]int // the answers behind each result that speak of it, in order
}

const never = math.MaxInt

// facts are what follows for a block from those beside it.
type facts struct {
	ago                   int
	superseded, duplicate bool
	failed, referenced    bool
}

// lately is for how many answers a reference counts.
const lately = 6

// historyOf joins results with their uses, and finds what follows.
func historyOf(blocks []Block) history {
	join(blocks)
	n := len(blocks)
	h := history{blocks: blocks, turns: make([]int, n), same: make([]int, n), shown: make([]int, n), failed: make([]int, n), refs: make([][]int, n)}
	turn, role := 0, ""
	for i := range blocks {
		if r := blocks[i].Role; r != role {
			if role = r; r == "assistant" {
				turn++
			}
		}
		h.turns[i] = turn
	}
	h.later()
	h.referred()
	return h
}

// facts are those of a block in the beginning of so many blocks.
func (h *history) facts(i, length int) facts {
	last := h.turns[length-1]
	f := facts{ago: last - h.turns[i], superseded: h.shown[i] < length, duplicate: h.same[i] < length, failed: h.failed[i] < length}
	for _, r := range slices.Backward(h.refs[i]) {
		if r < length {
			f.referenced = last-h.turns[r] < lately
			break
		}
	}
	return f
}

// later finds what a later result makes of no interest, from the end on.
func (h *history) later() {
	said, asked, failed, files := map[string]int{}, map[string]int{}, map[string]int{}, map[string][]int{}
	at := func(m map[string]int, key string) int {
		if i, ok := m[key]; ok && key != "" {
			return i
		}
		return never
	}
	for i := len(h.blocks) - 1; i >= 0; i-- {
		b := &h.blocks[i]
		h.same[i], h.shown[i], h.failed[i] = never, never, never
		if b.Type == useType {
			h.failed[i] = at(failed, b.Use)
		}
		if b.Type != resultType {
			continue
		}
		if b.Error {
			failed[b.Use] = i
		}
		if b.Sum != "" {
			key := b.Tool + "\x00" + b.Sum
			h.same[i] = at(said, key)
			said[key] = i
		}
		h.shown[i] = at(asked, b.Input)
		if !b.Error {
			asked[b.Input] = i
		}
		if !b.ofFiles() || b.Path == "" {
			continue
		}
		for _, after := range slices.Backward(files[b.Path]) { // the nearest first
			if h.blocks[after].covers(b) {
				h.shown[i] = min(h.shown[i], after)
				break
			}
		}
		files[b.Path] = append(files[b.Path], i)
	}
}

// leastLine is the length from which a line that comes again is a quotation, in bytes.
const leastLine = 24

// referred finds the results that answers speak of: that quote a line of them, or name
// their file.
func (h *history) referred() {
	quoted, lengths := map[string][]int{}, [256]bool{}
	for i := range h.blocks {
		b := &h.blocks[i]
		if !b.speaks() {
			continue
		}
		for line := range linesOf(b) {
			if list := quoted[line]; len(list) == 0 || list[len(list)-1] != i {
				quoted[line] = append(list, i)
				lengths[len(line)%len(lengths)] = true
			}
		}
	}
	naming := map[string][]int{}
	for i := range h.blocks {
		b := &h.blocks[i]
		if b.Type != resultType {
			continue
		}
		add := func(list []int) {
			from, _ := slices.BinarySearch(list, i)
			h.refs[i] = append(h.refs[i], list[from:]...)
		}
		for line := range strings.Lines(b.Text) {
			if line = strings.TrimSpace(line); len(line) >= leastLine && lengths[len(line)%len(lengths)] {
				add(quoted[line])
			}
		}
		if b.Path != "" {
			list, known := naming[b.Path]
			if !known {
				list = h.naming(b.Path)
				naming[b.Path] = list
			}
			add(list)
		}
		slices.Sort(h.refs[i])
		h.refs[i] = slices.Compact(h.refs[i])
	}
}

// speaks reports whether a block is said by the model, aloud.
func (b *Block) speaks() bool { return b.Role == "assistant" && b.Type != "Thinking" }

// naming are the blocks in which a model names a file: by its path in a use, by its
// last name in words.
func (h *history) naming(path string) (list []int) {
	name := path[strings.LastIndexAny(path, `/\`)+1:]
	for i := range h.blocks {
		b := &h.blocks[i]
		if b.speaks() && (b.Path == path || b.Type != useType && name != "" && strings.Contains(b.Text, name)) {
			list = append(list, i)
		}
	}
	return list
}

// linesOf are the lines of an answer that may be quotations. The input of a use is
// JSON: its lines are between the escapes.
func linesOf(b *Block) func(func(string) bool) {
	return func(yield func(string) bool) {
		text := b.Text
		if b.Type == useType {
			text = unescape.Replace(text)
		}
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); len(line) >= leastLine && !yield(line) {
				return
			}
		}
	}
}

var unescape = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\"`, `"`, `\\`, `\`, `":"`, "\n", `","`, "\n")
