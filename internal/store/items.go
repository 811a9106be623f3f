package store

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/identity"
)

var _ chat.Items = (*Store)(nil)

// namespaceMark stands before each part of a namespace where it is kept as one text.
// No part holds it, so that a prefix of the text is a prefix of the namespace.
const namespaceMark = "\x1f"

func namespaceText(parts []string) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(namespaceMark + p)
	}
	return b.String()
}

func namespaceParts(text string) []string {
	if text == "" {
		return []string{}
	}
	return strings.Split(strings.TrimPrefix(text, namespaceMark), namespaceMark)
}

func scanItem(scan Scan) (i chat.Item, err error) {
	var namespace string
	err = scan(&namespace, &i.Key, decode{&i.Value}, when{&i.CreatedAt}, when{&i.UpdatedAt})
	i.Namespace = namespaceParts(namespace)
	return i, err
}

// PutItem implements chat.Items.
func (s *Store) PutItem(ctx context.Context, v identity.Viewer, i chat.Item) error {
	value, err := json.Marshal(i.Value)
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "The value cannot be stored as JSON.")
	}
	return s.write(ctx, v, func(tx Tx) error {
		if err := tx.Lock("items:" + v.UserID); err != nil {
			return err
		}
		args := Args{"user": v.UserID, "namespace": namespaceText(i.Namespace), "key": i.Key, "value": string(unescaped(value)), "size": len(value), "now": s.now()}
		var items, size int
		if _, err := first(tx, `SELECT count(*), coalesce(sum(size), 0) FROM store_item WHERE user_id = @user AND NOT (namespace = @namespace AND key = @key)`, args, &items, &size); err != nil {
			return err
		}
		if items >= chat.MaxItems || size+len(value) > chat.MaxItemBytes {
			return fault.New(fault.RateLimited, "You keep %d items of %d KiB, and at most %d of %d MiB are kept for a person. Delete some.",
				items, size>>10, chat.MaxItems, chat.MaxItemBytes>>20).With(map[string]any{"reason": "items"})
		}
		_, err := tx.Exec(`INSERT INTO store_item (user_id, namespace, key, value, size, created_at, updated_at)
			VALUES (@user, @namespace, @key, @value, @size, @now, @now)
			ON CONFLICT (user_id, namespace, key) DO UPDATE SET value = @value, size = @size, updated_at = @now`, args)
		return err
	})
}

const itemColumns = `namespace, key, value, created_at, updated_at`

// Item implements chat.Items.
func (s *Store) Item(ctx context.Context, v identity.Viewer, namespace []string, key string) (i chat.Item, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		list, err := all(tx, `SELECT `+itemColumns+` FROM store_item WHERE user_id = @user AND namespace = @namespace AND key = @key`,
			Args{"user": v.UserID, "namespace": namespaceText(namespace), "key": key}, scanItem)
		i, err = only(list, err, "item")
		return err
	})
	return i, err
}

// DeleteItem implements chat.Items.
func (s *Store) DeleteItem(ctx context.Context, v identity.Viewer, namespace []string, key string) error {
	return s.write(ctx, v, func(tx Tx) error {
		_, err := tx.Exec(`DELETE FROM store_item WHERE user_id = @user AND namespace = @namespace AND key = @key`,
			Args{"user": v.UserID, "namespace": namespaceText(namespace), "key": key})
		return err
	})
}

// errEnough ends a query of which no more is wanted.
var errEnough = errors.New("enough")

// Items implements chat.Items. Values that do not fit are let go as they are read.
func (s *Store) Items(ctx context.Context, v identity.Viewer, f chat.ItemFilter) (list []chat.Item, err error) {
	const below = ` FROM store_item WHERE user_id = @user AND (@prefix = '' OR namespace = @prefix OR substr(namespace, 1, @length) = @below)`
	prefix := namespaceText(f.Prefix)
	args := Args{"user": v.UserID, "prefix": prefix, "below": prefix + namespaceMark, "length": len([]rune(prefix)) + 1, "limit": f.Limit}
	if f.Fits != nil {
		args["limit"] = chat.MaxItems
	}
	err = s.read(ctx, v, func(tx Tx) error {
		list = nil
		if f.Fits != nil {
			var size int
			if _, err := first(tx, `SELECT coalesce(sum(size), 0)`+below, args, &size); err != nil {
				return err
			}
			if size > f.Most {
				return fault.New(fault.Invalid, "A search that looks into values reads %d KiB of them at most, and there are %d KiB: name a namespace that holds less.", f.Most>>10, size>>10)
			}
		}
		err := tx.Query(`SELECT `+itemColumns+below+` ORDER BY updated_at DESC, namespace, key LIMIT @limit`, args, func(scan Scan) error {
			i, err := scanItem(scan)
			if err != nil || f.Fits != nil && !f.Fits(i.Value) {
				return err
			}
			if list = append(list, i); len(list) == f.Limit {
				return errEnough
			}
			return nil
		})
		if errors.Is(err, errEnough) {
			return nil
		}
		return err
	})
	return list, err
}

// ItemNamespaces implements chat.Items.
func (s *Store) ItemNamespaces(ctx context.Context, v identity.Viewer) (list [][]string, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		list, err = all(tx, `SELECT DISTINCT namespace FROM store_item WHERE user_id = @user ORDER BY namespace`, Args{"user": v.UserID},
			func(scan Scan) (parts []string, err error) {
				var text string
				err = scan(&text)
				return namespaceParts(text), err
			})
		return err
	})
	return list, err
}
