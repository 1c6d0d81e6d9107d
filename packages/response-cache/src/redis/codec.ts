import type { CacheEntry } from '../store/entry.ts'
import type { Tags } from '../store/tags.ts'

/** The parts of an entry that Redis itself need not understand. */
export function encodeMeta({ storedAt, ttlMs, staleMs, body }: CacheEntry): string {
  return JSON.stringify([storedAt, ttlMs, staleMs, body.length])
}

/** Undefined where the value was not written by this cache, or not wholly. */
export function decodeMeta(
  meta: Buffer | null | undefined,
  tags: Buffer | null | undefined,
  body: Buffer | null | undefined,
  version: number,
): CacheEntry | undefined {
  if (!meta || !tags || !body) return undefined
  const numbers = parse(meta.toString())
  const names = parse(tags.toString())
  if (!Array.isArray(numbers) || !Array.isArray(names)) return undefined
  const [storedAt, ttlMs, staleMs, length] = numbers as unknown[]
  if (typeof storedAt !== 'number' || typeof ttlMs !== 'number' || typeof staleMs !== 'number')
    return undefined
  const isWhole =
    length === body.length && body.toString('latin1', 0, 8) === '{"data":' && body.at(-1) === 0x7d
  if (!isWhole || !names.every((name) => typeof name === 'string')) return undefined
  return { storedAt, ttlMs, staleMs, body, tags: names, version }
}

/** The tags of another process's message; what cannot be understood invalidates everything. */
export function decodeTags(message: string, self: string): Tags | undefined {
  const decoded = parse(message)
  if (typeof decoded !== 'object' || decoded === null) return 'all'
  const { from, tags } = decoded as { from?: unknown; tags?: unknown }
  if (from === self) return undefined
  return Array.isArray(tags) && tags.every((tag) => typeof tag === 'string') ? tags : 'all'
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
