package builtin

import (
	"encoding/base64"
	"encoding/binary"
	"math"

	"liminal/internal/fault"
	"liminal/internal/knowledge"
)

// packed is a batch as it travels: its vectors are one string, float32 in
// little-endian order as base64, a quarter of what they take as JSON numbers.
func packed(p knowledge.VectorBatch) map[string]any {
	indices := make([]any, len(p.Indices))
	dim := 0
	var raw []byte
	for i, at := range p.Indices {
		indices[i] = float64(at)
		dim = len(p.Vectors[i])
		for _, x := range p.Vectors[i] {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
		}
	}
	return map[string]any{
		"from": float64(p.From), "to": float64(p.To), "total": float64(p.Total), "encoder": p.Encoder, "source": p.Source,
		"dim": float64(dim), "indices": indices, "vectors": base64.StdEncoding.EncodeToString(raw),
	}
}

// unpacked is the other side of packed.
func unpacked(v any) (knowledge.VectorBatch, error) {
	m, _ := v.(map[string]any)
	count := func(key string) int { n, _ := m[key].(float64); return int(n) }
	p := knowledge.VectorBatch{Span: knowledge.Span{From: count("from"), To: count("to")}, Total: count("total")}
	p.Encoder, _ = m["encoder"].(string)
	p.Source, _ = m["source"].(string)
	indices, _ := m["indices"].([]any)
	text, _ := m["vectors"].(string)
	raw, err := base64.StdEncoding.DecodeString(text)
	size := 4 * count("dim")
	if err != nil || len(raw) != size*len(indices) {
		return p, fault.New(fault.Invalid, "The batch's vectors are damaged. Read the document in again.")
	}
	for i, at := range indices {
		index, _ := at.(float64)
		p.Indices = append(p.Indices, int(index))
		vector := make([]float32, count("dim"))
		for k := range vector {
			vector[k] = math.Float32frombits(binary.LittleEndian.Uint32(raw[size*i+4*k:]))
		}
		p.Vectors = append(p.Vectors, vector)
	}
	return p, nil
}
