package api

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"liminal/internal/chat"
	"liminal/internal/fault"
)

func (s *server) langgraphStoreRoutes() {
	addLanggraph(s, langgraphRoute("PUT /store/items", "PutItem", "Keep a JSON object under a key in a namespace", scopeChat, scopeWrite), nil, s.putItem)
	addLanggraph(s, langgraphRoute("GET /store/items", "Item", "What is kept under a key in a namespace", scopeChat, scopeRead), LangGraphItem{}, s.oneItem)
	addLanggraph(s, langgraphRoute("DELETE /store/items", "DeleteItem", "Keep it no more", scopeWrite), nil, s.deleteItem)
	addLanggraph(s, langgraphRoute("POST /store/items/search", "SearchItems", "What is kept below a namespace, latest first", scopeChat, scopeRead), LangGraphItems{}, s.searchItems)
	addLanggraph(s, langgraphRoute("POST /store/namespaces", "Namespaces", "Where something is kept", scopeChat, scopeRead), LangGraphNamespaces{}, s.itemNamespaces)
}

// LangGraphItem is what a program keeps.
type LangGraphItem struct {
	Namespace []string       `json:"namespace"`
	Key       string         `json:"key"`
	Value     map[string]any `json:"value"`
	CreatedAt time.Time      `json:"created_at"`
	UpdatedAt time.Time      `json:"updated_at"`
	Score     *float64       `json:"score" nullable:"true" doc:"null: they are found by words, and not ranked"`
}

func itemView(i chat.Item) LangGraphItem {
	return LangGraphItem{Namespace: i.Namespace, Key: i.Key, Value: i.Value, CreatedAt: i.CreatedAt.UTC(), UpdatedAt: i.UpdatedAt.UTC()}
}

// LangGraphItems is a list of them.
type LangGraphItems struct {
	Items []LangGraphItem `json:"items"`
}

// LangGraphNamespaces is where something is kept.
type LangGraphNamespaces struct {
	Namespaces [][]string `json:"namespaces"`
}

// checkedNamespace refuses what no namespace is like.
func checkedNamespace(parts []string) error {
	if len(parts) > chat.MaxItemDepth {
		return fault.New(fault.Invalid, "A namespace has at most %d parts.", chat.MaxItemDepth)
	}
	for _, p := range parts {
		if p == "" || len(p) > chat.MaxItemName || strings.ContainsFunc(p, func(r rune) bool { return r < ' ' || r == '.' || r == '\uFFFD' }) {
			return fault.New(fault.Invalid, "A part of a namespace is a text of 1 to %d bytes without periods.", chat.MaxItemName).With([]Problem{{"namespace", "is none"}})
		}
	}
	return nil
}

func checkedItem(namespace []string, key string) error {
	if len(namespace) == 0 {
		return fault.New(fault.Invalid, "A namespace has at least one part.").With([]Problem{{"namespace", "is empty"}})
	}
	if key == "" || len(key) > chat.MaxItemName || strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r == '\uFFFD' }) {
		return fault.New(fault.Invalid, "A key is a text of 1 to %d bytes.", chat.MaxItemName).With([]Problem{{"key", "is none"}})
	}
	return checkedNamespace(namespace)
}

type putItemInput struct {
	Body struct {
		_         struct{}       `additionalProperties:"true"`
		Namespace []string       `json:"namespace"`
		Key       string         `json:"key"`
		Value     map[string]any `json:"value"`
	}
}

func (s *server) putItem(ctx context.Context, in *putItemInput) (func(http.ResponseWriter, *http.Request), error) {
	v, b := viewerOf(ctx), in.Body
	if err := checkedItem(b.Namespace, b.Key); err != nil {
		return nil, err
	}
	raw, err := json.Marshal(b.Value)
	if err != nil {
		return nil, err
	}
	if len(raw) > chat.MaxItemValue || strings.Contains(string(raw), `\u0000`) {
		return nil, fault.New(fault.Invalid, "A value is an object of at most %d KiB, without the character of the number 0.", chat.MaxItemValue>>10).With([]Problem{{"value", "is too large"}})
	}
	if err := s.Limits.Spend(ctx, s.Plans.Of(v).Chat, v.UserID); err != nil {
		return nil, err
	}
	return noContent, s.Items.PutItem(ctx, v, chat.Item{Namespace: b.Namespace, Key: b.Key, Value: b.Value})
}

type itemInput struct {
	Namespace string `query:"namespace" required:"true" doc:"its parts, with periods between them"`
	Key       string `query:"key" required:"true"`
}

func (s *server) oneItem(ctx context.Context, in *itemInput) (func(http.ResponseWriter, *http.Request), error) {
	namespace := strings.Split(in.Namespace, ".")
	if err := checkedItem(namespace, in.Key); err != nil {
		return nil, err
	}
	i, err := s.Items.Item(ctx, viewerOf(ctx), namespace, in.Key)
	return unwrapped(itemView(i)), err
}

// LangGraphItemName names an item.
type LangGraphItemName struct {
	_         struct{} `additionalProperties:"true"`
	Namespace []string `json:"namespace"`
	Key       string   `json:"key"`
}

type deleteItemInput struct{ Body LangGraphItemName }

func (s *server) deleteItem(ctx context.Context, in *deleteItemInput) (func(http.ResponseWriter, *http.Request), error) {
	if err := checkedItem(in.Body.Namespace, in.Body.Key); err != nil {
		return nil, err
	}
	return noContent, s.Items.DeleteItem(ctx, viewerOf(ctx), in.Body.Namespace, in.Body.Key)
}

type searchItemsInput struct {
	Body struct {
		_      struct{}        `additionalProperties:"true"`
		Prefix *[]string       `json:"namespace_prefix,omitempty" nullable:"true"`
		Filter *map[string]any `json:"filter,omitempty" nullable:"true" doc:"members of the value; of numbers and texts also {$eq, $ne, $gt, $gte, $lt, $lte}"`
		Query  *string         `json:"query,omitempty" nullable:"true" doc:"words that stand in the value, in any case"`
		Limit  int             `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"10"`
		Offset int             `json:"offset,omitempty" minimum:"0"`
	}
}

func (s *server) searchItems(ctx context.Context, in *searchItemsInput) (func(http.ResponseWriter, *http.Request), error) {
	v, b := viewerOf(ctx), in.Body
	if err := checkedNamespace(value(b.Prefix)); err != nil {
		return nil, err
	}
	words := strings.Fields(strings.ToLower(value(b.Query)))
	f := chat.ItemFilter{Prefix: value(b.Prefix), Limit: min(chat.MaxItems, b.Offset+b.Limit)}
	if filter := value(b.Filter); len(filter) > 0 || len(words) > 0 {
		f.Most = chat.MaxItemSearch
		f.Fits = func(v map[string]any) bool { return fitsFilter(v, filter) && hasWords(v, words) }
	}
	list, err := s.Items.Items(ctx, v, f)
	if err != nil {
		return nil, err
	}
	out := LangGraphItems{Items: []LangGraphItem{}}
	for _, i := range list {
		out.Items = append(out.Items, itemView(i))
	}
	from := min(b.Offset, len(out.Items))
	out.Items = out.Items[from:min(from+b.Limit, len(out.Items))]
	return unwrapped(out), nil
}

// hasWords reports whether all words stand somewhere in a value.
func hasWords(v map[string]any, words []string) bool {
	if len(words) == 0 {
		return true
	}
	raw, err := json.Marshal(v)
	text := strings.ToLower(string(raw))
	return err == nil && !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}

// fitsFilter reports whether a value has the members of a filter.
func fitsFilter(v, filter map[string]any) bool {
	for name, want := range filter {
		got := v[name]
		ops, is := want.(map[string]any)
		if !is || len(ops) == 0 {
			if !reflect.DeepEqual(got, want) {
				return false
			}
			continue
		}
		for op, operand := range ops {
			if !compares(got, op, operand) {
				return false
			}
		}
	}
	return true
}

// compares applies an operator of a filter; of one that is unknown the member must
// be just that object.
func compares(got any, op string, want any) bool {
	order, known := 0, false
	switch w := want.(type) {
	case float64:
		g, is := got.(float64)
		known = is
		switch {
		case g < w:
			order = -1
		case g > w:
			order = 1
		}
	case string:
		g, is := got.(string)
		order, known = strings.Compare(g, w), is
	}
	switch op {
	case "$eq":
		return reflect.DeepEqual(got, want)
	case "$ne":
		return !reflect.DeepEqual(got, want)
	case "$gt":
		return known && order > 0
	case "$gte":
		return known && order >= 0
	case "$lt":
		return known && order < 0
	case "$lte":
		return known && order <= 0
	}
	member, is := got.(map[string]any)
	return is && reflect.DeepEqual(member[op], want)
}

type namespacesInput struct {
	Body struct {
		_      struct{}  `additionalProperties:"true"`
		Prefix *[]string `json:"prefix,omitempty" nullable:"true"`
		Suffix *[]string `json:"suffix,omitempty" nullable:"true"`
		Depth  *int      `json:"max_depth,omitempty" nullable:"true" minimum:"1" doc:"they are cut to so many parts"`
		Limit  int       `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"100"`
		Offset int       `json:"offset,omitempty" minimum:"0"`
	}
}

func (s *server) itemNamespaces(ctx context.Context, in *namespacesInput) (func(http.ResponseWriter, *http.Request), error) {
	b := in.Body
	list, err := s.Items.ItemNamespaces(ctx, viewerOf(ctx))
	if err != nil {
		return nil, err
	}
	prefix, suffix := value(b.Prefix), value(b.Suffix)
	out := LangGraphNamespaces{Namespaces: [][]string{}}
	for _, n := range list {
		if len(n) < len(prefix) || len(n) < len(suffix) || !slices.Equal(n[:len(prefix)], prefix) || !slices.Equal(n[len(n)-len(suffix):], suffix) {
			continue
		}
		if depth := value(b.Depth); depth > 0 && len(n) > depth {
			n = n[:depth]
		}
		if !slices.ContainsFunc(out.Namespaces, func(o []string) bool { return slices.Equal(o, n) }) {
			out.Namespaces = append(out.Namespaces, n)
		}
	}
	from := min(b.Offset, len(out.Namespaces))
	out.Namespaces = out.Namespaces[from:min(from+b.Limit, len(out.Namespaces))]
	return unwrapped(out), nil
}
