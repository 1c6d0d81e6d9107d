import { expect, it } from 'vitest'
import { jsonQuality, parseAccept } from '../src/index.ts'

it.each([
  [null, []],
  ['', []],
  ['text/html', [['text/html', 1]]],
  [
    'Text/Event-Stream;Q=0.5, application/json;q=0',
    [
      ['text/event-stream', 0.5],
      ['application/json', 0],
    ],
  ],
  [
    'multipart/mixed; deferSpec="20220824" ;q=1, */*;q=0.1',
    [
      ['multipart/mixed', 1],
      ['*/*', 0.1],
    ],
  ],
  [
    'a/b;q=nonsense, c/d;q=-1, e/f;q=7, ,',
    [
      ['a/b', 0],
      ['c/d', 0],
      ['e/f', 1],
    ],
  ],
  [
    'text/html;title="a, b;q=0 \\", c" ; q=0.5, text/plain;x="unended, a/b',
    [
      ['text/html', 0.5],
      ['text/plain', 1],
    ],
  ],
])('%j', (accept, wanted) => {
  expect(parseAccept(accept).map(({ type, quality }) => [type, quality])).toEqual(wanted)
})

it('keeps parameters, without their quotes', () => {
  const [range] = parseAccept('multipart/mixed;DeferSpec="20220824";boundary=-;a="1=\\"2;,";b;c="d')
  expect([...(range?.parameters ?? [])]).toEqual([
    ['deferspec', '20220824'],
    ['boundary', '-'],
    ['a', '1="2;,'],
    ['b', ''],
    ['c', 'd'],
  ])
})

it.each([
  ['application/json', 1],
  ['application/graphql-response+json;q=0.3, application/json;q=0.7', 0.7],
  ['application/*;q=0.4, */*', 0.4],
  ['*/*;q=0.2', 0.2],
  ['application/json;q=0, */*', 1],
  ['application/json;q=0, application/graphql-response+json;q=0, */*', 0],
  ['application/*;q=0, */*', 0],
  ['text/html', 0],
])('jsonQuality of %s is %d', (accept, quality) => {
  expect(jsonQuality(parseAccept(accept))).toBe(quality)
})

it.each([',,;;=', 'a;q', ';q=1', 'a/b;q=1e9', 'a/b;q=Infinity', '\u0000;q=0.5', 'x'.repeat(10_000)])(
  'gives %j a quality between 0 and 1',
  (accept) => {
    for (const { quality } of parseAccept(accept)) {
      expect(quality).toBeGreaterThanOrEqual(0)
      expect(quality).toBeLessThanOrEqual(1)
    }
  },
)
