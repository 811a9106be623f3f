package safety_test

import "strings"

// pem is a key in the form keys have; it opens nothing.
var pem = "-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat("MIIEpAIBAAKCAQEA7bq0h2m1x0Zr9Wl5c3N8f6Jt4u1v0y2w+/Qe\n", 20) + "-----END RSA PRIVATE KEY-----"

// jwt is a token in the form tokens have.
const jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"

// removed are answers with what must not be seen of them, and the rule.
var removed = map[string]struct{ text, span, rule string }{
	"a private key":              {"Here it is:\n" + pem + "\nKeep it safe.", pem, "private_key"},
	"a key that is cut off":      {"Here: " + pem[:400], pem[:400], "private_key"},
	"a provider's key":           {"Use sk-proj-Ab3dEf6hIj9kLm2nOp5q in the header.", "sk-proj-Ab3dEf6hIj9kLm2nOp5q", "provider_key"},
	"a key in code":              {"```\nAPI_KEY=\"ghp_0123456789abcdefABCDEF0123456789abcd\"\n```", "ghp_0123456789abcdefABCDEF0123456789abcd", "provider_key"},
	"a key at the end":           {"It is AKIAQ3EGRZ7TYV5XW2PL", "AKIAQ3EGRZ7TYV5XW2PL", "provider_key"},
	"a key with hidden signs":    {"It is s\u200bk-proj-Ab3d\u2060Ef6hIj9kLm2nOp5q, use it", "s\u200bk-proj-Ab3d\u2060Ef6hIj9kLm2nOp5q", "provider_key"},
	"a key with control signs":   {"It is s\x08k-proj-Ab3d\u0085Ef6hIj9kLm2nOp5q, use it", "s\x08k-proj-Ab3d\u0085Ef6hIj9kLm2nOp5q", "provider_key"},
	"a recipe in small capitals": {"So, ꜱᴀʀɪɴ: first.\n1. Dissolve 10 g of it.\n2. Heat to 60 °C. Add more.", "ꜱᴀʀɪɴ: first.\n1. Dissolve 10 g", "mass_weapon"},
	"a key of lookalikes":        {"It is ѕk-proj-Ab3dEf6hIj9kLm2nOp5q!", "ѕk-proj-Ab3dEf6hIj9kLm2nOp5q", "provider_key"},
	"a key of wide letters":      {"It is ｓｋ-proj-Ab3dEf6hIj9kLm2nOp5q!", "ｓｋ-proj-Ab3dEf6hIj9kLm2nOp5q", "provider_key"},
	"a token":                    {"The cookie holds " + jwt + " now.", jwt, "token"},
	"a bearer token":             {"Send Authorization: Bearer abcDEF123456ghiJKL7890 with it.", "Bearer abcDEF123456ghiJKL7890", "bearer"},
	"a recipe":                   {"Sure. TATP needs care.\n1. Mix 50 ml of the first with the second.\n2. Cool it.\n3. Add 5 ml of acid.\nDone.", "TATP needs care.\n1. Mix 50 ml", "explosive"},
	"a recipe for many":          {"So, sarin: first, take it.\n1. Dissolve 10 g of it.\n2. Heat to 60 °C. Add more.", "sarin: first, take it.\n1. Dissolve 10 g", "mass_weapon"},
	"a recipe before its name":   {"1. Mix 50 ml of it.\n2. Cool it.\n3. Add 5 ml.\nSo TATP is made, 20 g of it.", "TATP is made, 20 g", "explosive"},
	"a recipe of lookalikes":     {"So, sаrіn: first.\n1. Dissolve 10 g of it.\n2. Heat to 60 °C. Add more.", "sаrіn: first.\n1. Dissolve 10 g", "mass_weapon"},
	"a recipe with soft marks":   {"So, sa\u00adr\u200din: first.\n1. Dissolve 10 g of it.\n2. Heat to 60 °C. Add more.", "sa\u00adr\u200din: first.\n1. Dissolve 10 g", "mass_weapon"},
}

// kept are answers nobody may lose a word of.
var kept = []string{
	"Mustard dressing: mix 10 g of mustard with 30 ml of oil. Add 5 ml of vinegar. Stir. Heat nothing.",
	"Your IBAN is DE89 3704 0044 0532 0130 00, and the invoice went to ann@example.org.",
	"Call +49 40 1234567, or pay with card 4111 1111 1111 1111.",
	"The Wi-Fi password in your notes is: correct-horse-battery-staple (password=hunter2).",
	"A PEM file begins with `-----BEGIN PRIVATE KEY-----` and ends with `-----END PRIVATE KEY-----`; between them stands Base64. A certificate begins with -----BEGIN CERTIFICATE-----.",
	"Set OPENAI_API_KEY to sk-your-key-goes-here-please and restart. AWS writes AKIAIOSFODNN7EXAMPLE in its manuals.",
	"A risk-based, task-oriented and desk-bound approach; ask-me-anything-about-everything.",
	"The bearer of this letter is entitled to 300 EUR. Bearer tokens are sent in the Authorization header.",
	"Sarin is a nerve agent. The median lethal dose of ricin is about 1 mg in some reports; ricin is inactivated by heating to 80 °C for an hour. Treatment: give atropine 2 mg and add oxygen.",
	"Anthrax vaccines come in doses of 0.5 ml. Clause 4 forbids child pornography and any sexual content about minors.",
	"A 13-year-old may ask about puberty: the body changes, and doctors answer.",
	"The 12-year-old whisky and the 16-year-old tenant are both named in the contract.",
	"Die Kündigungsfrist beträgt drei Monate (§ 573c BGB). Größe: 50 ml, 10 g.",
	"機密情報はありません。条項は三か月です。",
	"commit 3f786850e387550fdab836ed7e6dc881de23001b, id 550e8400-e29b-41d4-a716-446655440000",
	"",
	"ok",
}
