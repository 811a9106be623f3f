package dataset

import (
	"cmp"
	"math"
	"slices"

	"liminal/internal/words"
)

// item is anything that is on one of two sides.
type item struct {
	conversation string
	hash         uint64
	row          bool
	id           int64
	group        int
}

// split holds the newest rows out, with everything of their conversations and
// everything nearly the same, so that nothing is measured with that was learnt
// (TRAIN-06). Of too few rows none are held out.
func (m *maker) split(rows []Row) {
	want := max(m.o.LeastHeld, int(math.Ceil(m.o.HeldShare*float64(len(rows)))))
	if len(rows) < want+m.o.LeastRows {
		m.d.Train = rows
		return
	}
	items := m.items(rows)
	groups := grouped(items, m.o.Near)
	held := map[int]bool{}
	for n, i := 0, len(groups)-1; i >= 0 && n < want; i-- {
		size := 0
		for _, it := range groups[i] {
			if it.row {
				size++
			}
		}
		if size == 0 || len(rows)-n-size < m.o.LeastRows {
			continue
		}
		held[groups[i][0].group] = true
		n += size
	}
	at := 0
	next := func() bool { at++; return held[items[at-1].group] }
	for _, r := range rows {
		if next() {
			m.d.Held = append(m.d.Held, r)
		} else {
			m.d.Train = append(m.d.Train, r)
		}
	}
	for i := range m.d.Pairs {
		m.d.Pairs[i].HeldBack = next()
	}
	for i := range m.d.Unpaired {
		m.d.Unpaired[i].HeldBack = next()
	}
}

// items are the rows, pairs and unpaired answers, in that order.
func (m *maker) items(rows []Row) []*item {
	var items []*item
	add := func(conversation string, prompt []Turn, row bool, id int64) {
		asked := prompt[len(prompt)-1].Content
		items = append(items, &item{conversation: conversation, hash: words.Simhash(asked), row: row, id: id, group: len(items)})
	}
	for _, r := range rows {
		add(r.ConversationID, r.Prompt, true, r.EventID)
	}
	for _, p := range m.d.Pairs {
		add(p.ConversationID, p.Prompt, false, p.EventID)
	}
	for _, u := range m.d.Unpaired {
		add(u.ConversationID, u.Prompt, false, u.EventID)
	}
	return items
}

// grouped are the items that belong on one side, the group with the newest row
// last.
func grouped(items []*item, near int) [][]*item {
	root := make([]int, len(items))
	var find func(i int) int
	find = func(i int) int {
		if root[i] != i {
			root[i] = find(root[i])
		}
		return root[i]
	}
	for i, a := range items {
		root[i] = i
		for j, b := range items[:i] {
			if a.conversation != "" && a.conversation == b.conversation || alike(a.hash, b.hash, near) {
				root[find(i)] = find(j)
			}
		}
	}
	of := map[int]int{}
	var groups [][]*item
	for i, it := range items {
		it.group = find(i)
		at, known := of[it.group]
		if !known {
			at = len(groups)
			of[it.group] = at
			groups = append(groups, nil)
		}
		groups[at] = append(groups[at], it)
	}
	slices.SortStableFunc(groups, func(a, b []*item) int { return cmp.Compare(newest(a), newest(b)) })
	return groups
}

func newest(group []*item) int64 {
	id := int64(math.MinInt64)
	for _, it := range group {
		if it.row {
			id = max(id, it.id)
		}
	}
	return id
}
