import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { run, source, yogaWith, type Yoga } from '../harness.ts'

const protoText = {
  't.proto': `syntax = "proto3"; package t; import "graphql.proto";
    service S { rpc Get(Ask) returns (Reply) { option (graphql.schema).name = "get"; } }
    message Ask {}
    message Reply {
      string a = 1; optional int32 b = 2; string c = 3 [(graphql.field).required = true]; Inner inner = 4; string e = 5;
      Inner must = 7 [(graphql.field).required = true]; string f = 8;
    }
    message Inner { string x = 1; int32 y = 2; }`,
}
const DOCUMENTS = [
  '{ get { a b c inner { x y } e } }',
  '{ get { __typename a c inner { y } again: inner { x } e } }',
  '{ get { c b } }',
  '{ get { c: a a } }',
]

const text = (number: number, value: string): Buffer =>
  Buffer.concat([Buffer.of(number * 8 + 2, Buffer.byteLength(value)), Buffer.from(value)])

const inner = fc
  .array(
    fc.oneof(
      fc.string({ maxLength: 5 }).map((value) => text(1, value)),
      fc.nat(100).map((value) => Buffer.of(16, value)),
    ),
    { maxLength: 3 },
  )
  .map((pieces) => Buffer.concat(pieces).toString('latin1'))

/** Fields of a reply, mostly in order, at times twice, out of place, unknown or of another type. */
const field = fc.oneof(
  {
    weight: 9,
    arbitrary: fc
      .tuple(fc.constantFrom(1, 3, 5), fc.string({ maxLength: 5 }))
      .map(([n, v]) => ({ n, bytes: text(n, v) })),
  },
  { weight: 4, arbitrary: fc.nat(100).map((v) => ({ n: 2, bytes: Buffer.of(16, v) })) },
  {
    weight: 4,
    arbitrary: inner.map((v) => ({
      n: 4,
      bytes: Buffer.concat([Buffer.of(34, v.length), Buffer.from(v, 'latin1')]),
    })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      { n: 6, bytes: text(9, 'x') },
      { n: 3, bytes: Buffer.of(24, 1) },
      { n: 9, bytes: Buffer.of(10, 9) },
    ),
  },
)
const reply = fc
  .tuple(
    fc.uniqueArray(field, { selector: ({ n }) => n, maxLength: 6 }),
    fc.array(field, { maxLength: 2 }),
    fc.boolean(),
  )
  .map(([unique, more, isSorted]) =>
    Buffer.concat(
      (isSorted ? unique.sort((a, b) => a.n - b.n) : [...unique, ...more]).map(({ bytes }) => bytes),
    ),
  )

it('fields in the order of the selection, and in any other, are answered as ordinary execution answers them', async () => {
  let bytes: Buffer = Buffer.alloc(0)
  let planned = 0
  let fellBack = 0
  async function open(plans: boolean): Promise<Yoga> {
    const grpc = await source({
      protoText,
      endpoint: 'localhost:1',
      plans,
      onPlan({ outcome }) {
        if (outcome === 'planned') planned++
        if (outcome === 'fell-back') fellBack++
      },
      transport: () => ({
        unary: () => Promise.resolve(bytes),
        stream: () => {
          throw new Error('nothing streams here')
        },
        close() {},
      }),
    })
    return yogaWith(grpc)
  }
  const [fast, plain] = [await open(true), await open(false)]
  let documents = 0
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...DOCUMENTS),
      fc.array(reply, { minLength: 1, maxLength: 3 }),
      async (document, replies) => {
        // A name of its own makes a plan of its own, which has seen no other reply.
        const query = `query Q${documents++} ${document}`
        for (bytes of replies) expect(await run(fast, query)).toEqual(await run(plain, query))
      },
    ),
    { numRuns: 400 },
  )
  expect(planned).toBe(documents)
  fellBack = 0
  bytes = Buffer.concat([text(8, 'early'), text(7, text(1, 'late').toString())])
  await run(fast, 'query Late { get { must { x } f } }')
  expect(fellBack).toBe(0)
})
