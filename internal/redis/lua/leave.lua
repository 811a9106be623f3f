-- Records how a call of a tool went.
--
-- KEYS: breaker; ARGV: verdict (healthy, broken, unknown), whether the call
-- was the probe, failures that trip, window ms, rest ms, ms a breaker is
-- remembered
local verdict, probe = ARGV[1], ARGV[2] == '1'
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local function rest()
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[1], 'until', string.format('%.0f', now + ARGV[5]))
  redis.call('PEXPIRE', KEYS[1], ARGV[6])
end

if probe and verdict == 'healthy' then
  redis.call('DEL', KEYS[1])
elseif probe and verdict == 'broken' then
  rest()
elseif probe then
  redis.call('HDEL', KEYS[1], 'probe')
elseif verdict == 'broken' and redis.call('HEXISTS', KEYS[1], 'until') == 0 then
  local recent = {}
  for at in string.gmatch(redis.call('HGET', KEYS[1], 'failures') or '', '%d+') do
    if now - tonumber(at) <= tonumber(ARGV[4]) then recent[#recent + 1] = at end
  end
  recent[#recent + 1] = string.format('%.0f', now)
  if #recent >= tonumber(ARGV[3]) then return rest() end
  redis.call('HSET', KEYS[1], 'failures', table.concat(recent, ' '))
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
end
