-- Appends events to a run's log, tells its followers, and returns the Seq of
-- the last one.
--
-- KEYS: entries (a stream), state (a hash)
-- ARGV: channel, bytes kept, idle ms, mark, overhead of an entry, largest
--       news, then for each event a key (or ''), an entry, the call it is of
--       (or ''), which attempt of that, and 1 where it is kept only if that
--       attempt has said something before
--
-- A Seq is the server's time in microseconds, or one more than the last: it
-- grows also when all of Redis was lost in between. mark is empty, or, when
-- this may be a repetition, what the entries of the first try would hold.
local function text(n) return string.format('%.0f', n) end

local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local held = redis.call('HMGET', KEYS[2], 'base', 'last', 'bytes', 'finished', 'lost')
local base, last, bytes = tonumber(held[1]), tonumber(held[2]), tonumber(held[3] or 0)
local limit, overhead = tonumber(ARGV[2]), tonumber(ARGV[5])

if not base then
  redis.call('DEL', KEYS[1])
  base, last, bytes = now, now, 0
  redis.call('HSET', KEYS[2], 'base', text(base))
elseif ARGV[4] ~= '' then
  for _, entry in ipairs(redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1000)) do
    if string.find(entry[2][2], ARGV[4], 1, true) then return last end
  end
end

-- Whether no later attempt of the call has spoken; takes note of this one.
local function current(call, attempt, again)
  if call == '' then return not again end
  local latest = tonumber(redis.call('HGET', KEYS[2], 'call:' .. call) or 0)
  if again and attempt ~= latest then return false end
  if attempt > latest then redis.call('HSET', KEYS[2], 'call:' .. call, attempt) end
  return attempt >= latest
end

local before, news, told = last, {}, 0
for i = 7, #ARGV, 5 do
  if current(ARGV[i + 2], tonumber(ARGV[i + 3]), ARGV[i + 4] == '1') and (ARGV[i] == '' or redis.call('HSETNX', KEYS[2], 'key:' .. ARGV[i], 1) == 1) then
    local entry = ARGV[i + 1]
    last = math.max(last + 1, now)
    redis.call('XADD', KEYS[1], text(last) .. '-0', 'e', entry)
    bytes = bytes + #entry + overhead
    news[#news + 1] = text(last) .. ':' .. #entry .. ':' .. entry
    told = told + #entry
  end
end

local lost = held[5]
while bytes > limit do
  local oldest = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 64)
  local n = 0
  while n < #oldest - 1 and bytes > limit do
    n = n + 1
    bytes = bytes - #oldest[n][2][2] - overhead
  end
  if n == 0 then break end
  lost = string.match(oldest[n][1], '^%d+')
  redis.call('XTRIM', KEYS[1], 'MINID', '=', oldest[n + 1][1])
end

redis.call('HSET', KEYS[2], 'last', text(last), 'bytes', text(bytes), 'lost', lost or '0')
local forget = tonumber(ARGV[3])
if held[4] then forget = redis.call('PTTL', KEYS[2]) end
redis.call('PEXPIRE', KEYS[1], forget)
redis.call('PEXPIRE', KEYS[2], forget)

if last > before then
  local head = text(before) .. ':' .. text(last) .. ':' .. text(base) .. ':' .. (held[4] and 1 or 0) .. ':'
  if told > tonumber(ARGV[6]) then news, head = {}, '' end -- too much for a message: they read it
  redis.call('PUBLISH', ARGV[1], head .. table.concat(news))
end
return last
