/** Longest result that the store keeps. A corrupted one can have any length. */
export const MAX_BODY_BYTES: number = 64 * 1024 * 1024

/**
 * All keys begin with one hash tag, so on a cluster they lie in one slot. `seq` counts invalidations, in the server's
 * microseconds; `floor` is its first value: after FLUSHALL a new count begins above every older one, and what was read under
 * the old count is refused. `changed` has each tag with the count at its last invalidation, and the server's run, all in one
 * key: a server that evicts keys for want of memory forgets all of them or none, and a missing one begins a new count, too.
 */
const begin = `
local prefix = KEYS[1]
local changed = prefix .. 'changed'
local time = redis.call('TIME')
local micros = time[1] * 1000000 + time[2]
-- Where the server may not be asked, all have one name.
local function server()
  local answered, info = pcall(redis.call, 'INFO', 'server')
  return ' ' .. (answered and type(info) == 'string' and string.match(info, 'run_id:(%x+)') or '')
end
local function mark()
  redis.call('ZREMRANGEBYSCORE', changed, '+inf', '+inf')
  redis.call('ZADD', changed, '+inf', '', '+inf', server())
end
-- What is older matters no more; a part at a time, as nobody else is served meanwhile.
local function forget(rememberMs)
  local old = redis.call('ZCOUNT', changed, '-inf', string.format('%.0f', micros - rememberMs * 1000))
  if old > 0 then redis.call('ZREMRANGEBYRANK', changed, 0, math.min(old, 1000) - 1) end
end
-- The number in a key that this cache wrote; nil for any other value.
local function count(key)
  local text = redis.pcall('GET', prefix .. key)
  return type(text) == 'string' and #text <= 16 and string.match(text, '^%d+$') and tonumber(text) < 9e15 and text
end
local floor = count('floor')
local seq = count('seq')
local isMarked = type(redis.pcall('ZSCORE', changed, '')) == 'string'
if not floor or not seq or not isMarked or tonumber(floor) > tonumber(seq) then
  floor = string.format('%.0f', math.max(micros, (tonumber(seq or 0)) + 1))
  seq = floor
  redis.call('SET', prefix .. 'floor', floor)
  redis.call('SET', prefix .. 'seq', seq)
  if not isMarked then redis.call('UNLINK', changed) end
  mark()
end
local function advance()
  seq = string.format('%.0f', math.max(micros, seq + 1))
  redis.call('SET', prefix .. 'seq', seq)
  return seq
end
local function holds(since, tags)
  local read = tonumber(since)
  -- Corrupted counts include NaN, for which both comparisons are false.
  if not read or not (read >= tonumber(floor) and read <= tonumber(seq)) then return false end
  for _, tag in ipairs(tags) do
    local at = type(tag) == 'string' and redis.call('ZSCORE', changed, tag)
    if type(tag) ~= 'string' or (at and tonumber(at) > read) then return false end
  end
  return true
end
`

/** ARGV: entry key. Returns the count and the entry's meta and body; a foreign or outdated entry is removed. */
export const readScript: string = `${begin}
local key = prefix .. 'e:' .. ARGV[1]
if redis.call('EXISTS', key) == 0 then return { seq } end
local kind = redis.call('TYPE', key).ok
if kind == 'hash' and redis.call('HSTRLEN', key, 'body') <= ${MAX_BODY_BYTES} then
  local entry = redis.call('HMGET', key, 'meta', 'tags', 'seq', 'body')
  if entry[1] and entry[2] and entry[3] and entry[4] then
    local ok, tags = pcall(cjson.decode, entry[2])
    if ok and type(tags) == 'table' then
      if holds(entry[3], tags) then return { seq, entry[1], entry[2], entry[4] } end
      redis.call('UNLINK', key)
      return { seq }
    end
  end
end
redis.call('UNLINK', key)
return { seq, 'poisoned' }
`

/** ARGV: entry key, count at the read, lifetime in ms, meta, tags as JSON, body. Returns 1 when stored. */
export const writeScript: string = `${begin}
local ok, tags = pcall(cjson.decode, ARGV[5])
if not ok or not holds(ARGV[2], tags) then return 0 end
local key = prefix .. 'e:' .. ARGV[1]
redis.call('UNLINK', key)
redis.call('HSET', key, 'meta', ARGV[4], 'tags', ARGV[5], 'seq', ARGV[2], 'body', ARGV[6])
redis.call('PEXPIRE', key, ARGV[3])
return 1
`

/**
 * ARGV: channel, message, who asks, whether it is changing something now, ms of silence after which one that was has died,
 * ms for which tags are remembered.
 * What the dead have changed nobody knows; nor what a server has forgotten that began anew from what it had saved, or that
 * took a dead one's place before it had heard all: everything is evicted. Returns 1 then.
 */
export const beatScript: string = `${begin}
forget(ARGV[6])
local now = math.floor(micros / 1000)
local key = prefix .. 'changing'
local kind = redis.call('TYPE', key).ok
-- A corrupted list of changes is lost: treat it as if a process had died.
local lost = (kind == 'zset' or kind == 'none') and 0 or redis.call('UNLINK', key)
if ARGV[4] == '1' then redis.call('ZADD', key, now, ARGV[3]) else redis.call('ZREM', key, ARGV[3]) end
local died = redis.call('ZREMRANGEBYSCORE', key, '-inf', string.format('%.0f', now - ARGV[5])) + lost
local isOther = not redis.call('ZSCORE', changed, server())
if isOther then mark() end
if died == 0 and not isOther then return 0 end
redis.call('SET', prefix .. 'floor', advance())
redis.call('PUBLISH', ARGV[1], ARGV[2])
return 1
`

/** ARGV: channel, message, ms for which tags are remembered, then the tags; none means everything. */
export const invalidateScript: string = `${begin}
local now = advance()
if #ARGV == 3 then redis.call('SET', prefix .. 'floor', now) end
for index = 4, #ARGV do redis.call('ZADD', changed, now, ARGV[index]) end
forget(ARGV[3])
redis.call('PUBLISH', ARGV[1], ARGV[2])
return 1
`
