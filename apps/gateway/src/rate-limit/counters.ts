import type { Redis } from 'ioredis'
import { LRUCache } from 'lru-cache'

export interface Count {
  /** Of the window, this time included. */
  readonly count: number
  /** Milliseconds until the window ends. */
  readonly endsInMs: number
}

/** Counts in windows of a fixed length, which begin with the first count. */
export interface Counters {
  add(key: string, by: number, windowMs: number): Count | Promise<Count>
}

/** Clients that may be counted at once; over it those that asked least recently begin anew. */
const MAX_KEYS = 100_000

/** Counts of this process alone. */
export function createMemoryCounters(now: () => number = () => performance.now()): Counters {
  const windows = new LRUCache<string, { count: number; endsAt: number }>({ max: MAX_KEYS })
  return {
    add(key, by, windowMs) {
      const at = now()
      let window = windows.get(key)
      if (!window || window.endsAt <= at) windows.set(key, (window = { count: 0, endsAt: at + windowMs }))
      window.count += by
      return { count: window.count, endsInMs: window.endsAt - at }
    },
  }
}

/** One step in Redis: two gateways never both find the last place free. */
const ADD = `
  local count = redis.call('INCRBY', KEYS[1], ARGV[1])
  local ends = redis.call('PTTL', KEYS[1])
  if ends < 0 then
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
    ends = tonumber(ARGV[2])
  end
  return { count, ends }`

/** Counts of all gateways with the same Redis; while it does not answer each counts for itself. */
export function createRedisCounters(
  redis: Pick<Redis, 'eval'>,
  near: Counters,
  onError: (error: unknown) => void,
): Counters {
  return {
    async add(key, by, windowMs) {
      try {
        const answer = await redis.eval(ADD, 1, `vinyasa:rate:${key}`, by, windowMs)
        const [count, endsInMs] = (answer as readonly unknown[]).map(Number)
        return { count: count ?? by, endsInMs: endsInMs ?? windowMs }
      } catch (error) {
        onError(error)
        return near.add(key, by, windowMs)
      }
    },
  }
}
