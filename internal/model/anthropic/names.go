package anthropic

import "liminal/internal/model"

// uses are the ids of tool calls. The API takes no others than letters,
// digits, _ and -, as in names of tools, and each once; a dialogue that was
// begun with another backend has that one's.
type uses struct {
	names model.ToolNames
	taken map[string]bool
	last  map[string]string // what the latest call of an id was sent as
}

func newUses() *uses { return &uses{taken: map[string]bool{}, last: map[string]string{}} }

// begin gives the id a call is sent with.
func (u *uses) begin(id string) string {
	key := id
	for u.taken[key] {
		key += "_"
	}
	u.taken[key] = true
	u.last[id] = u.names.Send(key)
	return u.last[id]
}

// result gives the id of the call a result belongs to.
func (u *uses) result(id string) string {
	if sent := u.last[id]; sent != "" {
		return sent
	}
	u.taken[id] = true
	return u.names.Send(id)
}
