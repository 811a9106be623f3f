// Package events stands in for what a ring tells. See ../../README.md.
package events

type (
	Event         any
	EventListener interface{ HandleEvent(Event) }
)
