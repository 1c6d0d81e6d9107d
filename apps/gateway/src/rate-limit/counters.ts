import { systemClock } from '@vinyasa/core'
import type { Redis } from 'ioredis'
import type { Outage } from '../logging/outage.ts'
import { Windows } from './windows.ts'

export interface Count {
  /** Count in the window, this time included. */
  readonly count: number
  /** Milliseconds until the window ends. */
  readonly endsInMs: number
}

/** Counts of one rule, in windows of a fixed length that begin with the first count. */
export interface Counters {
  add(client: string, by: number): Count | Promise<Count>
}

/** The parts of a rule that its counts are kept by. */
export interface CountedRule {
  /** Tells this rule's counts from others', on each gateway alike. */
  readonly name: string
  readonly max: number
  readonly windowMs: number
}

/** Clients that a rule counts at once: some 20 MB. */
const MAX_CLIENTS = 100_000

/** Counts of this process alone. */
export function createMemoryCounters(
  { max, windowMs }: CountedRule,
  now: () => number = systemClock.now,
): Counters {
  const windows = new Windows({ max, windowMs, maxKeys: MAX_CLIENTS })
  return {
    add(client, by) {
      const at = now()
      const { count, endsAt } = windows.add(client, by, at)
      return { count, endsInMs: endsAt - at }
    },
  }
}

/**
 * Counts in one step in Redis: two gateways never both find the last place free. KEYS[2] counts the clients that are new in a window;
 * those that are too many are not kept, and -1 says so.
 */
const ADD = `
  -- Starts again if the gateway cannot have written the value: no count, or one that never expires or expires too late.
  local function add(key, by)
    local count = redis.pcall('INCRBY', key, by)
    local ends = redis.call('PTTL', key)
    local isOurs = type(count) == 'number' and count >= 0 and ends <= tonumber(ARGV[2])
    if isOurs and (ends >= 0 or count == tonumber(by)) then return count, ends end
    redis.call('DEL', key)
    return redis.call('INCRBY', key, by), -1
  end
  local count, ends = add(KEYS[1], ARGV[1])
  if ends < 0 then
    ends = tonumber(ARGV[2])
    local clients = add(KEYS[2], 1)
    if clients == 1 then redis.call('PEXPIRE', KEYS[2], ends) end
    if clients > tonumber(ARGV[3]) then
      redis.call('DEL', KEYS[1])
      return { -1, ends }
    end
    redis.call('PEXPIRE', KEYS[1], ends)
  end
  return { count, ends }`

/** A rule's counts lie on so many places of a cluster, each of which keeps its part of the clients. */
const SHARDS = 16

export interface RedisCountersOptions {
  readonly redis: Pick<Redis, 'eval'>
  /** Counts where Redis does not. */
  readonly near: Counters
  readonly outage: Outage
  /** Clients that are new in one window. Default 100,000. */
  readonly maxClients?: number
}

/**
 * Counts of all gateways with the same Redis. While it does not answer each counts for itself, and so it does with those
 * who come when a window has begun for as many clients as Redis is to keep.
 */
export function createRedisCounters(
  { name, windowMs }: CountedRule,
  options: RedisCountersOptions,
): Counters {
  const { redis, near, outage, maxClients = MAX_CLIENTS } = options
  const perShard = Math.max(1, Math.floor(maxClients / SHARDS))
  return {
    async add(client, by) {
      const tag = `vinyasa:rate:{${name}:${shardOf(client)}}`
      try {
        const answer = await redis.eval(ADD, 2, `${tag}:${client}`, tag, by, windowMs, perShard)
        outage.worked()
        const [count, endsInMs] = (answer as readonly unknown[]).map(Number)
        if (count !== -1) return { count: count ?? by, endsInMs: endsInMs ?? windowMs }
      } catch (error) {
        outage.failed(error)
      }
      return near.add(client, by)
    },
  }
}

function shardOf(client: string): number {
  let sum = 0
  for (let at = 0; at < client.length; at++) sum += client.charCodeAt(at)
  return sum % SHARDS
}
