package api

// The states of a response and of its items.
const (
	statusQueued     = "queued"
	statusInProgress = "in_progress"
	statusCompleted  = "completed"
	statusIncomplete = "incomplete"
	statusFailed     = "failed"
	statusCancelled  = "cancelled"
)

// Response is the answer to a ResponseRequest.
type Response struct {
	ID                string                       `json:"id"`
	Object            string                       `json:"object" enum:"response"`
	CreatedAt         int64                        `json:"created_at" doc:"in seconds since 1970"`
	Status            string                       `json:"status" enum:"queued,in_progress,completed,incomplete,failed,cancelled"`
	Background        bool                         `json:"background"`
	Error             Nullable[ResponseError]      `json:"error"`
	Incomplete        Nullable[ResponseIncomplete] `json:"incomplete_details"`
	Instructions      *string                      `json:"instructions" nullable:"true"`
	Metadata          ResponseNotes                `json:"metadata"`
	Model             string                       `json:"model"`
	Output            []ResponseItem               `json:"output"`
	ParallelToolCalls bool                         `json:"parallel_tool_calls"`
	Previous          *string                      `json:"previous_response_id" nullable:"true"`
	Store             bool                         `json:"store"`
	Temperature       *float64                     `json:"temperature" nullable:"true"`
	ToolChoice        string                       `json:"tool_choice"`
	Tools             []Object                     `json:"tools"`
	TopP              *float64                     `json:"top_p" nullable:"true"`
	Usage             Nullable[ResponseUsage]      `json:"usage"`
	Liminal           CompletionOf                 `json:"x_liminal"`
}

// ResponseError is why a response failed.
type ResponseError struct {
	Code    string `json:"code" enum:"server_error,rate_limit_exceeded"`
	Message string `json:"message"`
}

// ResponseIncomplete is why a response ended before its end.
type ResponseIncomplete struct {
	Reason string `json:"reason" enum:"max_output_tokens,content_filter"`
}

// ResponseItem is a message, a call of a tool, or a question about one.
type ResponseItem struct {
	ID          string         `json:"id"`
	Type        string         `json:"type" enum:"message,function_call,function_call_output,mcp_call,mcp_approval_request"`
	Status      string         `json:"status,omitempty" enum:"in_progress,completed,incomplete,failed"`
	Role        string         `json:"role,omitempty" enum:"user,assistant"`
	Content     []ResponsePart `json:"content,omitzero"`
	CallID      string         `json:"call_id,omitempty" doc:"what function_call_output names"`
	ServerLabel string         `json:"server_label,omitempty"`
	Name        string         `json:"name,omitempty"`
	Arguments   *string        `json:"arguments,omitempty" doc:"a JSON object"`
	Output      *string        `json:"output,omitempty"`
	Failed      *string        `json:"error,omitempty"`
}

// ResponsePart is a text of a message.
type ResponsePart struct {
	Type        string         `json:"type" enum:"output_text,input_text"`
	Text        string         `json:"text"`
	Annotations []ResponseMark `json:"annotations,omitzero"`
	Logprobs    []string       `json:"logprobs,omitzero" doc:"there are none"`
}

// ResponseMark is a citation at its mark.
type ResponseMark struct {
	Type  string `json:"type" enum:"url_citation"`
	URL   string `json:"url"`
	Title string `json:"title"`
	Start int    `json:"start_index" doc:"of its mark, in characters of the text"`
	End   int    `json:"end_index"`
}

// ResponseUsage is what a turn used, of all its calls of models.
type ResponseUsage struct {
	Input        int `json:"input_tokens"`
	InputDetails struct {
		Cached int `json:"cached_tokens"`
	} `json:"input_tokens_details"`
	Output        int `json:"output_tokens"`
	OutputDetails struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
	Total int `json:"total_tokens"`
}

// ResponseEvent is an event of a stream; its type says which members it has.
type ResponseEvent struct {
	Type            string        `json:"type"`
	Sequence        int64         `json:"sequence_number" doc:"rises; starting_after takes it"`
	Response        *Response     `json:"response,omitempty"`
	ItemID          string        `json:"item_id,omitempty"`
	OutputIndex     *int          `json:"output_index,omitempty"`
	ContentIndex    *int          `json:"content_index,omitempty"`
	AnnotationIndex *int          `json:"annotation_index,omitempty"`
	Item            *ResponseItem `json:"item,omitempty"`
	Part            *ResponsePart `json:"part,omitempty"`
	Delta           *string       `json:"delta,omitempty"`
	Text            *string       `json:"text,omitempty"`
	Name            string        `json:"name,omitempty"`
	Arguments       *string       `json:"arguments,omitempty"`
	Annotation      *ResponseMark `json:"annotation,omitempty"`
	Logprobs        *[]string     `json:"logprobs,omitempty" doc:"there are none"`
}

var noLogprobs = []string{}

func outputText(text string, marks []ResponseMark) *ResponsePart {
	if marks == nil {
		marks = []ResponseMark{}
	}
	return &ResponsePart{Type: "output_text", Text: text, Annotations: marks, Logprobs: noLogprobs}
}

func responseMarks(list []CompletionAnnotation) []ResponseMark {
	marks := make([]ResponseMark, len(list))
	for i, a := range list {
		marks[i] = ResponseMark{Type: a.Type, URL: a.URL.URL, Title: a.URL.Title, Start: a.URL.Start, End: a.URL.End}
	}
	return marks
}

func responseUsage(used *CompletionUsage) Nullable[ResponseUsage] {
	if used == nil {
		used = &CompletionUsage{}
	}
	u := &ResponseUsage{Input: used.Prompt, Output: used.Completion, Total: used.Total}
	u.InputDetails.Cached = used.Details.Cached
	return Nullable[ResponseUsage]{u}
}
