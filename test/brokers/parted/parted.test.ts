import { describeWith } from '@vinyasa/test-kit'
import { expect, it } from 'vitest'
import { startFleet, type BusKind } from './fleet.ts'
import { BOUND_MS, runEpisode, SHORT } from './run.ts'
import { STATES } from './states.ts'

const ROUNDS = 30
/** Of a busy machine, between a gateway's answer and the moment at which it is seen here. */
const SLACK_MS = 500
/** The others are of `pnpm test:parted`. */
const NAMES = new Set(['in touch', 'the writer is cut off', 'the reader hears nothing'])

// NATS is the same one where Valkey stands in for Redis.
const kinds: readonly (readonly [BusKind, string])[] = [
  ['redis', 'redis-server'],
  ...(process.env['EXPECTED_SERVER'] === 'valkey' ? [] : [['nats', 'nats-server'] as const]),
]

for (const [kind, program] of kinds) {
  describeWith(program, `a gateway over ${kind}, after a mutation of another one`, () => {
    it('answers nothing older than its bound, whoever is parted, and says that one is missing', async () => {
      await using fleet = await startFleet(kind)
      const found = []
      for (const state of STATES.filter(({ name }) => NAMES.has(name))) {
        const seen = await runEpisode(fleet, state, ROUNDS, SHORT)
        const worstMs = Math.max(seen.worstMs, seen.worstBackMs)
        const isHeld = state.isInTouch ? seen.old === 0 : worstMs <= BOUND_MS + SLACK_MS
        found.push({ name: state.name, ...seen, isHeld: isHeld && seen.hits > 0 })
      }
      expect(found).toEqual(found.map((one) => ({ ...one, isHeld: true })))
      expect(fleet.log('reader').join('\n')).toMatch(
        /a gateway stopped responding.*\n.*all gateways respond again/s,
      )
      expect(fleet.log('writer').join('\n')).toMatch(
        /responses no longer wait for all gateways.*\n.*responses wait for all gateways again/s,
      )
    })
  })
}
