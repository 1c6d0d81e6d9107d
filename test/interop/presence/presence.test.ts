import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createFileRegistry,
  fromBinary,
  fromJson,
  toBinary,
  toJson,
  type FileRegistry,
} from '@bufbuild/protobuf'
import { Edition, FileDescriptorSetSchema, type FileDescriptorSet } from '@bufbuild/protobuf/wkt'
import { createDisposables } from '@vinyasa/test-kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  differencesToBufbuild,
  sendRandomRequests,
  type SentRequests,
} from '../../../packages/grpc-source/test/presence/sent-requests.ts'
import { asProto2 } from './as-proto2.ts'
import { strictParsers, type StrictParser } from './strict-parsers.ts'

// PRESENCE: how many requests in all; SEED: of which chance.
const count = Number(process.env['PRESENCE'] ?? 1_000)
const seed = Number(process.env['SEED'] ?? 2)

const opened = createDisposables(afterAll)
let folder: string
let given: SentRequests

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vinyasa-presence-'))
  opened.use(() => rmSync(folder, { recursive: true, force: true }))
  given = await sendRandomRequests(count, seed)
}, 1_200_000)

it(`@bufbuild/protobuf reads what was sent as what was meant, in ${count} requests`, () => {
  const differences = differencesToBufbuild(given)
  expect([differences.length, differences[0]]).toEqual([0, undefined])
})

describe.each(strictParsers)('$name reads what was sent as what was meant', ({ start }) => {
  let parser: StrictParser

  beforeAll(async () => {
    parser = opened.use(await start(folder))
  })

  it(`in ${count} requests`, { timeout: 1_200_000 }, async ({ annotate }) => {
    const { set, registry, requests } = given
    const { known, restated } = await loadAsKnown(parser, set)
    await annotate(`${restated} of 2 editions were read as proto2`)
    const differences: unknown[] = []
    for (const { type, syntax, meant, sent } of requests) {
      const message = known.getMessage(type)!
      const expected = toJson(message, fromBinary(message, toBinary(registry.getMessage(type)!, meant)))
      const read = await parser.parse(type, sent).catch((error: Error) => error.message)
      // The order of keys is nobody's.
      if (sorted(read) !== sorted(expected))
        differences.push([syntax, read, expected, Buffer.from(sent).toString('hex')])
    }
    const shortest = differences.toSorted((a, b) => JSON.stringify(a).length - JSON.stringify(b).length)
    expect([differences.length, shortest[0]]).toEqual([0, undefined])
    expect(requests.length).toBeGreaterThanOrEqual(count)
  })

  it('and tells of a required field that is missing, and of bytes that are none', async () => {
    const file = {
      name: 'a.proto',
      syntax: 'proto2',
      package: 'a',
      messageType: [
        { name: 'A', field: [{ name: 'n', number: 1, label: 'LABEL_REQUIRED', type: 'TYPE_INT32' }] },
      ],
    }
    await parser.load(written(fromJson(FileDescriptorSetSchema, { file: [file] })))
    expect(await parser.parse('a.A', Uint8Array.of(8, 0))).toEqual({ n: 0 })
    await expect(parser.parse('a.A', Uint8Array.of())).rejects.toThrow(/\bn\b/)
    await expect(parser.parse('a.A', Uint8Array.of(8))).rejects.toThrow(/no bytes|invalid wire/)
  })
})

/**
 * Has it read the files, those of editions that the library does not know as proto2. Gives the files as it read them, and how many editions
 * were restated.
 */
async function loadAsKnown(
  parser: StrictParser,
  set: FileDescriptorSet,
): Promise<{ known: FileRegistry; restated: number }> {
  const editions = [Edition.EDITION_2024, Edition.EDITION_2023]
  for (let count = 0; ; count++) {
    const given = asProto2(set, editions.slice(0, count))
    const refusal = await parser.load(written(given)).catch((error: Error) => error.message)
    if (refusal === undefined) return { known: createFileRegistry(given), restated: count }
    expect(refusal).toMatch(/edition/)
    if (count === editions.length) throw new Error(refusal)
  }
}

function written(set: FileDescriptorSet): Uint8Array {
  return toBinary(FileDescriptorSetSchema, set)
}

function sorted(value: unknown): string {
  return JSON.stringify(value, (_key, one: unknown) => {
    if (Object.is(one, -0)) return '-0'
    if (typeof one !== 'object' || one === null || Array.isArray(one)) return one
    return Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1)))
  })
}
