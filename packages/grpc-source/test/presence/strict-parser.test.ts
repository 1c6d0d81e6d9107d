import { expect, it } from 'vitest'
import { differencesToBufbuild, sendRandomRequests } from './sent-requests.ts'

// PRESENCE: how many requests in all; SEED: of which chance. test/interop/presence has other parsers read them too.
const count = Number(process.env['PRESENCE'] ?? 400)
const seed = Number(process.env['SEED'] ?? 1)

it(
  `${count} requests of proto2, proto3 and editions, with zeros of every presence`,
  { timeout: 600_000 },
  async () => {
    const given = await sendRandomRequests(count, seed)
    const differences = differencesToBufbuild(given)
    expect([differences.length, differences[0]]).toEqual([0, undefined])
    expect(given.requests.length).toBeGreaterThanOrEqual(count)
  },
)
