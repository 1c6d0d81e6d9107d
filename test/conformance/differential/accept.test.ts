import { createRequire } from 'node:module'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { jsonQuality, parseAccept } from '../../../packages/core/src/index.ts'

// What an Accept header says, beside negotiator, by which Express and Fastify read it.

interface Reference {
  /** Without types: the ranges that are taken, the dearest first. With types: those of them. */
  mediaTypes(available?: readonly string[]): string[]
}
const require = createRequire(import.meta.url)
const Negotiator = require('negotiator') as new (request: {
  readonly headers: { readonly accept: string }
}) => Reference

const JSON_TYPES = ['application/json', 'application/graphql-response+json']
const types = fc.constantFrom(
  ...JSON_TYPES,
  'application/*',
  '*/*',
  'text/event-stream',
  'multipart/mixed',
  'text/html',
)
const space = fc.constantFrom('', ' ', '\t', '  ')
const quality = fc.constantFrom('', 'q=0', 'q=1', 'q=1.000', 'q=0.5', 'Q=0.25', 'q=0.001', 'q=0.000')
/** What a quoted text may hold (RFC 9110, section 5.6.4). */
const quoted = fc
  .string({ unit: fc.constantFrom('a', ',', ';', '=', ' ', '\\"', '\\\\', 'q=0', '/'), maxLength: 6 })
  .map((text) => `"${text}"`)
const parameter = fc
  .tuple(fc.constantFrom('boundary', 'charset', 'deferSpec'), fc.oneof(fc.constantFrom('-', 'utf-8'), quoted))
  .map((pair) => pair.join('='))
const rangeOf = (maxLength: number): fc.Arbitrary<{ type: string; text: string }> =>
  fc
    .record({
      type: types,
      upper: fc.boolean(),
      parameters: fc.array(parameter, { maxLength }),
      quality,
      space,
    })
    .map(({ type, upper, parameters, quality, space }) => ({
      type,
      text: [upper ? type.toUpperCase() : type, ...parameters, quality]
        .filter((piece) => piece !== '')
        .join(`${space};${space}`),
    }))
const headerOf = (
  parameters: number,
): fc.Arbitrary<{ accept: string; ranges: readonly { type: string }[] }> =>
  fc
    .tuple(fc.array(rangeOf(parameters), { maxLength: 5 }), space)
    .map(([ranges, space]) => ({ ranges, accept: ranges.map(({ text }) => text).join(`${space},${space}`) }))

it('has the ranges that negotiator finds, the dearest first', () => {
  fc.assert(
    fc.property(headerOf(2), ({ accept }) => {
      const taken = parseAccept(accept)
        .filter(({ quality }) => quality > 0)
        .toSorted((one, other) => other.quality - one.quality)
      const wanted = accept === '' ? [] : new Negotiator({ headers: { accept } }).mediaTypes()
      expect(taken.map(({ type }) => type)).toEqual(wanted.map((type) => type.toLowerCase()))
    }),
    { numRuns: 5_000, seed: 1 },
  )
})

it('takes JSON where negotiator takes one of its types, and more gladly than another type where it does', () => {
  fc.assert(
    fc.property(headerOf(0), fc.constantFrom('text/html', 'image/png'), ({ accept, ranges }, other) => {
      // Here a range that names one type of JSON is about both.
      const named = JSON_TYPES.filter((type) => ranges.some((one) => one.type === type))
      fc.pre(named.length !== 1 && accept !== '')
      const order = new Negotiator({ headers: { accept: accept.toLowerCase() } }).mediaTypes([
        ...JSON_TYPES,
        other,
      ])
      const first = order.findIndex((type) => type !== other)
      const quality = jsonQuality(parseAccept(accept))
      expect(quality > 0).toBe(first !== -1)
      if (first === 0 || first === -1) return
      const rest = parseAccept(accept).filter(({ type }) => [other, '*/*'].includes(type))
      expect(quality).toBeLessThanOrEqual(Math.max(0, ...rest.map((one) => one.quality)))
    }),
    { numRuns: 5_000, seed: 1 },
  )
})
