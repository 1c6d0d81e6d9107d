import { assert, asyncProperty, integer } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mergeParts, type Part } from '../src/parts.ts'
import { createWireFormatter } from '../src/wire/wire-format.ts'
import { clientMergers } from './support/client-mergers.ts'
import { errorBag, isLocal, json, matches, run, same, strategies, worlds } from './support/merge-property.ts'
import { mergePatchesFormat, mergePendingFormat } from './support/merge-wire.ts'
import { documentVariables } from './support/random-operation.ts'
import { mergeWithRelay, quietRelay, toRelayText } from './support/relay-merger.ts'

// The same cases every time, unless PROPERTY_SEED names others; PROPERTY_RUNS=5000 for a long run. In four worlds that
// makes 1,360 schemas, documents and results for each strategy, each in both formats.
const seed = Number(process.env['PROPERTY_SEED'] ?? 20_220_824)
const numRuns = Number(process.env['PROPERTY_RUNS'] ?? 340)
const relayRuns = Math.ceil(numRuns / 4)

describe.each(strategies)('%s: merging all parts equals the plain result', (strategy) => {
  it.each(Object.entries(worlds))('%s', { timeout: 600_000 }, async (_, world) => {
    let streams = 0
    let patches = 0
    let failed = 0
    await assert(
      asyncProperty(integer(), integer({ min: 0, max: 60 }), async (seed, size) => {
        const { text, plain, answer, parts, isStream } = await run(strategy, world, seed, size)
        if (!isStream) {
          same(answer.data, plain.data, text)
          if (isLocal(plain)) same(errorBag(answer.errors), errorBag(plain.errors), text)
          return
        }
        streams++
        for (const format of ['patches', 'pending'] as const) {
          const formatter = createWireFormatter(format, (error) => error)
          const wire = parts.map((part) => json(formatter(part)))
          const merged = format === 'patches' ? mergePatchesFormat(wire) : mergePendingFormat(wire)
          if (format === 'patches') patches += wire.flatMap((part) => part.incremental ?? []).length
          failed += merged.failed.length
          matches(merged, plain, undefined, text)
          for (const [name, merger] of Object.entries(clientMergers)) {
            if (merger.format !== format) continue
            matches({ ...merger.merge(wire), failed: merged.failed }, plain, merger, `${name}: ${text}`)
          }
          const own = json(await mergeParts(iterate(parts)))
          matches({ errors: [], ...own, failed: merged.failed }, plain, undefined, `mergeParts: ${text}`)
        }
      }),
      { numRuns, seed },
    )
    // A generator that seldom defers would prove nothing.
    expect(streams).toBeGreaterThan(numRuns / 5)
    expect(patches).toBeGreaterThan(numRuns / 2)
    // Only what is streamed can fail after a part of it was delivered.
    const mayFail = strategy === 'streaming' && world.failing > 0
    expect(failed).toBeGreaterThanOrEqual(mayFail ? numRuns / 20 : 0)
    expect(failed).toBeLessThanOrEqual(strategy === 'streaming' ? Infinity : 0)
  })

  // Its compiler rewrites what it sends, so that it has runs of its own.
  it.each(Object.entries(worlds))('Relay, %s', { timeout: 600_000 }, async (_, world) => {
    quietRelay()
    let streams = 0
    await assert(
      asyncProperty(integer(), integer({ min: 0, max: 60 }), async (seed, size) => {
        const { schema, text, plain, answer, parts, isStream } = await run(
          strategy,
          world,
          seed,
          size,
          toRelayText,
        )
        const formatter = createWireFormatter('patches', (error) => error)
        const wire = isStream ? parts.map((part) => json(formatter(part))) : [answer]
        // It ends the query with an error where there is no data at all.
        if (plain.data === null || wire[0].data === null) return
        streams += Number(isStream)
        const merged = isStream ? mergePatchesFormat(wire) : { failed: [], errors: answer.errors ?? [] }
        const { data, error } = mergeWithRelay(schema, text, documentVariables, wire)
        same(error, undefined, text)
        matches({ ...merged, data }, plain, undefined, `Relay: ${text}`)
      }),
      { numRuns: relayRuns, seed },
    )
    expect(streams).toBeGreaterThan(relayRuns / 5)
  })
})

async function* iterate(parts: readonly Part[]): AsyncGenerator<Part> {
  yield* parts
}
