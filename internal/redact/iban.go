package redact

// ibanLength is how long the account numbers of each country are; other
// countries have none.
var ibanLength = map[string]int{
	"AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BR": 29, "CH": 21, "CR": 22,
	"CY": 28, "CZ": 24, "DE": 22, "DK": 18, "DO": 28, "EE": 20, "ES": 24, "FI": 18, "FO": 18, "FR": 27, "GB": 22, "GE": 22,
	"GI": 23, "GR": 27, "HR": 21, "HU": 28, "IE": 22, "IL": 23, "IS": 26, "IT": 27, "KW": 30, "KZ": 20, "LB": 28, "LI": 21,
	"LT": 20, "LU": 20, "LV": 21, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MT": 31, "NL": 18, "NO": 15, "PK": 24, "PL": 28,
	"PT": 25, "QA": 29, "RO": 24, "RS": 22, "SA": 24, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "TN": 24, "TR": 26, "UA": 29,
}

// ibans finds international bank account numbers, in one piece or in groups
// of four.
func ibans(s string) (found []Span) {
	for i := 0; i+4 <= len(s); i++ {
		if !isUpper(s[i]) || !isUpper(s[i+1]) || !isDigit(s[i+2]) || !isDigit(s[i+3]) || isWord(before(s, i)) {
			continue
		}
		if end := ibanEnd(s, i); end > 0 {
			found = append(found, Span{i, end, IBAN})
			i = end - 1
		}
	}
	return found
}

// ibanEnd returns where the number that begins at i ends, or 0.
func ibanEnd(s string, i int) int {
	want, known := ibanLength[s[i:i+2]]
	if !known {
		return 0
	}
	compact := make([]byte, 0, want)
	for ; i < len(s) && len(compact) < want; i++ {
		c := s[i]
		if c == ' ' && len(compact)%4 == 0 && len(compact) > 0 {
			continue
		}
		if !isUpper(c) && !isDigit(c) {
			return 0
		}
		compact = append(compact, c)
	}
	if len(compact) < want || isWord(at(s, i)) || mod97(compact) != 1 {
		return 0
	}
	return i
}

// mod97 is the remainder of ISO 13616: the first four characters go last and
// letters count from 10.
func mod97(compact []byte) int {
	rest := 0
	for i := range compact {
		c := compact[(i+4)%len(compact)]
		if isDigit(c) {
			rest = (rest*10 + int(c-'0')) % 97
		} else {
			rest = (rest*100 + int(c-'A') + 10) % 97
		}
	}
	return rest
}
