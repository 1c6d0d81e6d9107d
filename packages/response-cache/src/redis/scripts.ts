/**
 * All keys begin with one hash tag, so on a cluster they lie in one slot. `seq` counts invalidations;
 * `floor` is its first value: after FLUSHALL a new count begins above every older one (it starts at the
 * server's microseconds), and what was read under the old count is refused.
 * `v:<tag>` is the count at a tag's last invalidation and outlives every entry.
 */
const begin = `
local prefix = KEYS[1]
local floor = redis.call('GET', prefix .. 'floor')
local seq = redis.call('GET', prefix .. 'seq')
if not floor or not seq then
  local time = redis.call('TIME')
  floor = time[1] .. string.format('%06d', time[2])
  seq = floor
  redis.call('SET', prefix .. 'floor', floor)
  redis.call('SET', prefix .. 'seq', seq)
end
local function holds(since, tags)
  local count = tonumber(since)
  -- A poisoned count may be no number, or the one number that does not equal itself.
  if not count or count ~= count or count < tonumber(floor) then return false end
  for _, tag in ipairs(tags) do
    local at = redis.call('GET', prefix .. 'v:' .. tag)
    if at and tonumber(at) > count then return false end
  end
  return true
end
`

/** ARGV: entry key. Returns the count and the entry's meta and body; a foreign or outdated entry is removed. */
export const readScript: string = `${begin}
local key = prefix .. 'e:' .. ARGV[1]
if redis.call('EXISTS', key) == 0 then return { seq } end
local kind = redis.call('TYPE', key).ok
if kind == 'hash' then
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
 * ARGV: channel, message, who asks, whether it is changing something now, ms of silence after which one that was has died.
 * What the dead have changed nobody knows: everything is evicted. Returns 1 then.
 */
export const beatScript: string = `${begin}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local key = prefix .. 'changing'
if ARGV[4] == '1' then redis.call('ZADD', key, now, ARGV[3]) else redis.call('ZREM', key, ARGV[3]) end
if redis.call('ZREMRANGEBYSCORE', key, '-inf', string.format('%.0f', now - ARGV[5])) == 0 then return 0 end
redis.call('SET', prefix .. 'floor', string.format('%.0f', redis.call('INCR', prefix .. 'seq')))
redis.call('PUBLISH', ARGV[1], ARGV[2])
return 1
`

/** ARGV: channel, message, ms for which tags are remembered, then the tags; none means everything. */
export const invalidateScript: string = `${begin}
local now = redis.call('INCR', prefix .. 'seq')
if #ARGV == 3 then redis.call('SET', prefix .. 'floor', string.format('%.0f', now)) end
for index = 4, #ARGV do
  redis.call('SET', prefix .. 'v:' .. ARGV[index], string.format('%.0f', now), 'PX', ARGV[3])
end
redis.call('PUBLISH', ARGV[1], ARGV[2])
return 1
`
