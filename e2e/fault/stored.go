package main

// Message is one entry of a conversation as the platform shows it.
type Message struct {
	ID      string         `json:"id"`
	Role    string         `json:"role"`
	Content string         `json:"content"`
	Seq     int            `json:"seq"`
	RunID   string         `json:"run_id"`
	Meta    map[string]any `json:"meta"`
}

// Run is one execution as the platform shows it.
type Run struct {
	ID             string `json:"id"`
	Kind           string `json:"kind"`
	Status         string `json:"status"`
	ConversationID string `json:"conversation_id"`
	Error          *struct {
		Code, Message, Node string
	} `json:"error"`
}

func (r Run) ended() bool {
	return r.Status == "done" || r.Status == "failed" || r.Status == "cancelled"
}

// why is the reason of a failed run.
func (r Run) why() string {
	if r.Error == nil {
		return "no reason"
	}
	return r.Error.Code + ": " + r.Error.Message
}

// Question is what a run asks.
type Question struct {
	ID    string `json:"interrupt_id"`
	RunID string `json:"run_id"`
}

// Document is one file in one context.
type Document struct {
	ID     string `json:"id"`
	Path   string `json:"path"`
	Status string `json:"status"`
	Error  string `json:"error"`
	Chunks int    `json:"chunks"`
}

// File is a stored file.
type File struct {
	Path   string `json:"path"`
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

// Holding is what one person finds when they look for everything they have.
type Holding struct {
	Person        string               `json:"person"`
	Conversations map[string][]Message `json:"conversations"`
	Runs          map[string]Run       `json:"runs"`
	Pending       map[string]Question  `json:"pending"`
	Documents     map[string]Document  `json:"documents"`
	Files         []File               `json:"files"`
	Replays       map[string]*Reader   `json:"replays"` // a run's whole stream, read once more
	Tried         int                  `json:"tried"`   // doors of others that were tried
	Reached       []string             `json:"reached"` // those that opened
}
