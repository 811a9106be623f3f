-- Reads a page of a run's log after a Seq.
--
-- KEYS: entries, state; ARGV: after, entries a page, idle ms
-- Returns base, last, where the page begins, whether there is a gap before it,
-- whether the run is finished, then id and entry of each; nothing for a run
-- that is not known.
local held = redis.call('HMGET', KEYS[2], 'base', 'last', 'lost', 'finished')
if not held[1] then return {} end
local base, last, lost = tonumber(held[1]), tonumber(held[2] or held[1]), tonumber(held[3] or 0)
if not held[4] then
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
  redis.call('PEXPIRE', KEYS[2], ARGV[3])
end

local after, edge, gap = tonumber(ARGV[1]), math.max(base, lost), 0
if after == 0 then
  after, gap = edge, lost > 0 and 1 or 0
elseif after < edge or after > last then
  after, gap = edge, 1
end
local entries = redis.call('XRANGE', KEYS[1], string.format('%.0f', after + 1), '+', 'COUNT', ARGV[2])
if #entries == 0 and after < last then after, gap = last, 1 end -- the entries were evicted
local page = {base, last, after, gap, held[4] and 1 or 0}
for _, entry in ipairs(entries) do
  page[#page + 1] = entry[1]
  page[#page + 1] = entry[2][2]
end
return page
