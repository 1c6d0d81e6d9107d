import { createGrpcSource, type GrpcSource } from '@vinyasa/grpc-source'
import { describe, expect, it } from 'vitest'
import { changedNames } from '../../packages/grpc-source/test/changed-names.ts'
import { createRandom } from '../../packages/grpc-source/test/plans/random.ts'
import { readCorpora } from './proto-files.ts'

// ADDED: how many additions a corpus; SEED: of which chance.
const additions = Number(process.env['ADDED'] ?? 12)
const seed = Number(process.env['SEED'] ?? 1)

// Where there is one file, nothing can be added; clarifai has the same file twice.
const corpora = readCorpora().filter(
  ({ name, services }) => services.length > 1 && name !== 'clarifai-nodejs-grpc',
)

describe.each(corpora)('services of $name', ({ name, services, includePaths }) => {
  function open(protoFiles: readonly string[]): Promise<GrpcSource> {
    return createGrpcSource({
      name: 'corpus',
      endpoint: 'localhost:1',
      expose: 'all',
      logger: { warn() {}, error() {} },
      protoFiles,
      includePaths,
    })
  }

  it('that are added to others change no name that was there', async () => {
    const random = createRandom(seed)
    const changed: unknown[] = []
    let gaveWay = 0
    for (let round = 0; round < additions; round++) {
      const files = random.shuffle([...services]).slice(0, random.int(3) + 2)
      const before = await open(files.slice(0, -1))
      const after = await open(files)
      const names = changedNames(before.schema, after.schema)
      if (names.length > 0) changed.push([files, names.slice(0, 5)])
      gaveWay += after.notes.filter((note) => / is the (field|type) /.test(note)).length
      await Promise.all([before.close(), after.close()])
    }
    // oxlint-disable-next-line no-console -- the figures of RESULTS.md
    console.log(`${name}: ${additions} additions, ${gaveWay} names gave way, ${changed.length} changed`)
    expect(changed).toEqual([])
  })
})
