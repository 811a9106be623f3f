package chat

import "strings"

// TitleOf is what an untitled conversation is called after its first message:
// the message on one line, cut to 50 characters (CHAT-13).
func TitleOf(message string) string {
	line := strings.Join(strings.Fields(message), " ")
	if r := []rune(line); len(r) > 50 {
		return string(r[:50])
	}
	return line
}
