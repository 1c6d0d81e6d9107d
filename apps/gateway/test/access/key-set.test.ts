import { generateKeyPairSync } from 'node:crypto'
import { createFakeClock } from '@vinyasa/test-kit'
import type { JSONWebKeySet } from 'jose'
import { describe, expect, it } from 'vitest'
import { createKeySet, type KeySetOptions } from '../../src/access/tokens/key-set.ts'

const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const keysNamed = (...names: readonly string[]): JSONWebKeySet => ({
  keys: names.map((kid) => ({ ...publicKey.export({ format: 'jwk' }), kid, alg: 'ES256' }) as never),
})

/** A key set whose issuer answers when the test says so. */
function open(options: Partial<KeySetOptions> = {}) {
  const clock = createFakeClock()
  const asked: { answer(keys: JSONWebKeySet): void; fail(): void }[] = []
  const keySet = createKeySet({
    load: () =>
      new Promise((resolve, reject) => {
        asked.push({ answer: resolve, fail: () => reject(new Error('down')) })
      }),
    outage: { failed() {}, worked() {} },
    clock,
    ...options,
  })
  const find = async (kid: string): Promise<string> => {
    try {
      await keySet.keysFor({ alg: 'ES256', kid }, {} as never)
      return 'found'
    } catch (error) {
      const { extensions, code } = error as { extensions?: { code: string }; code?: string }
      return extensions?.code ?? code ?? String(error)
    }
  }
  return { clock, asked, find }
}

describe('a key server that hangs', () => {
  it('delays nobody who has a known key, however old the keys are', async () => {
    const { clock, asked, find } = open({ timeoutMs: Infinity })
    const first = find('a')
    asked[0]?.answer(keysNamed('a'))
    expect(await first).toBe('found')
    for (let hour = 0; hour < 5; hour++) {
      await clock.advance(3_600_000)
      expect(await find('a')).toBe('found')
    }
    // One question is under way, in the background.
    expect(asked).toHaveLength(2)
  })

  it('lets wait a bounded number of those who need it, and answers the others at once', async () => {
    const { clock, find } = open({ maxWaiting: 3, timeoutMs: 30 })
    const waiting = [find('a'), find('b'), find('c')]
    expect(await find('d')).toBe('SERVICE_UNAVAILABLE')
    await clock.advance(30)
    expect(await Promise.all(waiting)).toEqual(Array.from({ length: 3 }, () => 'SERVICE_UNAVAILABLE'))
  })

  it('with known keys: an unknown one is nobody-knows, not unknown', async () => {
    const { clock, asked, find } = open({ timeoutMs: 30 })
    const first = find('a')
    asked[0]?.answer(keysNamed('a'))
    await first
    await clock.advance(30_000)
    const hanging = find('b')
    await clock.advance(30)
    expect(await hanging).toBe('SERVICE_UNAVAILABLE')
    expect(await find('b')).toBe('SERVICE_UNAVAILABLE')
    expect(asked).toHaveLength(2)
    await clock.advance(30_000)
    const again = find('b')
    await new Promise((resolve) => setImmediate(resolve))
    asked[2]?.answer(keysNamed('a', 'b'))
    expect(await again).toBe('found')
  })
})

it('keys are renewed behind the back of those who use them, one question at a time', async () => {
  const changes: number[] = []
  const { clock, asked, find } = open({ onChange: () => void changes.push(1) })
  const first = find('a')
  asked[0]?.answer(keysNamed('a'))
  await first
  await clock.advance(600_000)
  expect(await Promise.all([find('a'), find('a'), find('a')])).toEqual(['found', 'found', 'found'])
  expect(asked).toHaveLength(2)
  asked[1]?.answer(keysNamed('b'))
  await new Promise((resolve) => setImmediate(resolve))
  expect(await find('b')).toBe('found')
  expect(await find('a')).toBe('ERR_JWKS_NO_MATCHING_KEY')
  expect(changes).toHaveLength(1)
})

it.each([-3_600_000, -60_000, 60_000, 3_600_000])(
  'the wall clock steps by %d ms: a new key is asked for as soon as ever',
  async (step) => {
    const { clock, asked, find } = open()
    const first = find('a')
    asked[0]?.answer(keysNamed('a'))
    expect(await first).toBe('found')
    clock.stepWall(step)
    expect(await find('b')).toBe('ERR_JWKS_NO_MATCHING_KEY')
    await clock.advance(30_000)
    const rotated = find('b')
    await new Promise((resolve) => setImmediate(resolve))
    asked[1]?.answer(keysNamed('b'))
    expect(await rotated).toBe('found')
  },
)
