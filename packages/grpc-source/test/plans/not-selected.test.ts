import { BinaryWriter } from '@bufbuild/protobuf/wire'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { run, source, yogaWith, type Yoga } from '../harness.ts'

const WELL_KNOWN = ['Timestamp', 'Duration', 'FieldMask', 'Any', 'Struct', 'Value', 'ListValue', 'Empty']
const FILES = ['timestamp', 'duration', 'field_mask', 'any', 'struct', 'empty', 'wrappers']
const WRAPPERS = ['Double', 'Float', 'Int64', 'UInt64', 'Int32', 'UInt32', 'Bool', 'String', 'Bytes']
const KINDS = [
  ...[...WELL_KNOWN, ...WRAPPERS.map((of) => `${of}Value`)].map((name) => `google.protobuf.${name}`),
  'Nest',
]

const RUNS = Number(process.env['NOT_SELECTED_RUNS'] ?? 1_000)

/** Each leaves out some of the content: whole fields, or the values of a map whose keys are selected. */
const SELECTIONS = ['a', '__typename', 'more { a }', 'byKey { key }', 'b']

interface Pair {
  readonly outcomes: string[]
  answer(query: string, reply: Uint8Array): Promise<{ readonly data?: unknown; readonly errors?: unknown }>
}

/** A method for each kind, `get0` for the first. */
const PROTO = `syntax = "proto3"; package t; import "graphql.proto";
  ${FILES.map((file) => `import "google/protobuf/${file}.proto";`).join('\n')}
  service S { ${KINDS.map((_, at) => `rpc Get${at}(Ask) returns (Reply${at}) { option (graphql.schema).name = "get${at}"; }`).join('\n')} }
  message Ask {}
  message Nest { Nest nest = 1; google.protobuf.Value json = 2; repeated int32 counts = 3; map<string, Nest> named = 4; }
  ${KINDS.map(
    (kind, at) => `message Reply${at} {
      int32 a = 1; ${kind} one = 2; repeated ${kind} many = 3; map<string, ${kind}> by_key = 4;
      oneof arm { ${kind} c = 5; int32 b = 6; }
      Reply${at} more = 7;
    }`,
  ).join('\n')}`

/** Answers with a plan and without one; both are the same, or the test fails. */
async function open(): Promise<Pair> {
  let reply: Uint8Array
  const outcomes: string[] = []
  const side = async (plans: boolean): Promise<Yoga> =>
    yogaWith(
      await source({
        protoText: { 't.proto': PROTO },
        endpoint: 'localhost:1',
        plans,
        onPlan: ({ outcome }) => void outcomes.push(outcome),
        transport: () => ({
          unary: () => Promise.resolve(reply),
          stream: () => expect.unreachable('nothing streams'),
          close() {},
        }),
      }),
    )
  const [planned, ordinary] = [await side(true), await side(false)]
  return {
    outcomes,
    async answer(query, bytes) {
      reply = bytes
      const expected = await run(ordinary, query)
      expect(await run(planned, query)).toEqual(expected)
      return expected
    },
  }
}

const field = (number: number, content: Uint8Array): Uint8Array =>
  new BinaryWriter().tag(number, 2).bytes(content).finish()

const inField2 = (content: Uint8Array): Uint8Array => field(2, content)
/** A reply with the content in one of its fields, or in those of a reply within it. */
const PLACES: (typeof inField2)[] = [
  inField2,
  (content) => field(3, content),
  (content) => field(4, Buffer.concat([field(1, Buffer.from('k')), field(2, content)])),
  (content) => field(5, content),
  (content) => field(7, field(2, content)),
  (content) => field(7, field(4, field(2, content))),
]

const bytes = (maxLength: number): fc.Arbitrary<Buffer> =>
  fc.uint8Array({ maxLength }).map((all) => Buffer.from(all))

/** Messages of the field numbers that well-known types have, with messages in them; then some are cut or damaged. */
const { message } = fc.letrec<{ message: Buffer; field: Buffer }>((tie) => ({
  message: fc.array(tie('field'), { maxLength: 3 }).map((fields) => Buffer.concat(fields)),
  field: fc
    .tuple(
      fc.integer({ min: 1, max: 6 }),
      fc.oneof(
        { depthSize: 'medium' },
        fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((value) => ({ type: 0, value: varint(value) })),
        fc.uint8Array({ minLength: 8, maxLength: 8 }).map((value) => ({ type: 1, value })),
        fc.uint8Array({ minLength: 4, maxLength: 4 }).map((value) => ({ type: 5, value })),
        bytes(4).map((value) => ({ type: 2, value: withLength(value) })),
        { weight: 6, arbitrary: tie('message').map((value) => ({ type: 2, value: withLength(value) })) },
      ),
    )
    .map(([number, { type, value }]) => Buffer.concat([Buffer.of(number * 8 + type), value])),
}))
const content = fc.oneof(
  { weight: 4, arbitrary: message },
  { weight: 1, arbitrary: bytes(8) },
  {
    weight: 2,
    arbitrary: fc.tuple(message, fc.nat(), fc.nat(255), fc.boolean()).map(([whole, place, byte, isCut]) => {
      const at = place % (whole.length + 1)
      return Buffer.concat([
        whole.subarray(0, at),
        ...(isCut ? [] : [Buffer.of(byte), whole.subarray(at + 1)]),
      ])
    }),
  },
)

function varint(value: bigint): Uint8Array {
  return new BinaryWriter().uint64(value).finish()
}

function withLength(value: Uint8Array): Uint8Array {
  return new BinaryWriter().bytes(value).finish()
}

describe('a plan refuses what ordinary execution does in fields that are not selected, and nothing else', () => {
  it('in messages of every kind', { timeout: 120_000 }, async () => {
    const { answer, outcomes } = await open()
    const counts = { answered: 0, refused: 0 }
    const everyPair = KINDS.flatMap((_, kind) => SELECTIONS.map((selection) => ({ kind, selection })))
    for (const { kind, selection } of everyPair) {
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(...PLACES), content, async (place, value) => {
          const { errors } = await answer(`{ get${kind} { ${selection} } }`, place(value))
          counts[errors === undefined ? 'answered' : 'refused']++
        }),
        // Nothing wrong, and a tag that is cut: each pair has one of either.
        {
          numRuns: Math.ceil(RUNS / everyPair.length),
          examples: [
            [inField2, Buffer.of()],
            [inField2, Buffer.of(0xff)],
          ],
        },
      )
    }
    expect(counts.answered).toBeGreaterThan(RUNS / 5)
    expect(counts.refused).toBeGreaterThan(everyPair.length + RUNS / 20)
    // Most are answers of a plan, not of what it falls back to.
    expect(outcomes.filter((outcome) => outcome === 'planned')).toHaveLength(everyPair.length)
    expect(outcomes.filter((outcome) => outcome === 'fell-back').length).toBeLessThan(RUNS / 2)
  })

  it.each([
    [
      'objects',
      (value: Uint8Array) => field(5, field(1, Buffer.concat([field(1, Buffer.from('k')), field(2, value)]))),
    ],
    ['lists', (value: Uint8Array) => field(6, field(1, value))],
  ])('JSON of too many levels: %s', async (_name, around) => {
    const { answer } = await open()
    const query = `{ get${KINDS.indexOf('google.protobuf.Value')} { a } }`
    for (const levels of [30, 33, 34, 50, 51, 499, 500, 501, 700]) {
      let value: Uint8Array = Buffer.of(0x20, 1)
      for (let level = 0; level < levels; level++) value = around(value)
      for (const place of PLACES.slice(0, 4)) {
        const { errors } = await answer(query, place(value))
        expect(errors === undefined, `${levels} levels`).toBe(levels <= 500)
      }
    }
  })
})
