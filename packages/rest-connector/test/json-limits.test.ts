import { createTurns, SLICE_BYTES } from '@vinyasa/core'
import { describe, expect, it } from 'vitest'
import { parseBody } from '../src/http/decode.ts'

const parse = async (text: string, maxItems = 500_000): Promise<unknown> =>
  parseBody(200, 'application/json', Buffer.from(text), { maxItems, turns: createTurns() })

// Bodies that are harmless, that are counted before they are parsed, and that are counted while they are.
describe.each([0, 5_000, 3 * SLICE_BYTES])('a body with %i bytes of white space', (spaces) => {
  const beside = ' '.repeat(spaces)

  it.each([199, 200])('%i levels are taken', async (levels) => {
    const text = `${'['.repeat(levels)}${beside}${']'.repeat(levels)}`
    expect(JSON.stringify(await parse(text))).toBe(text.replaceAll(' ', ''))
  })

  it.skipIf(spaces === 0)('201 levels are refused, of lists and of objects', async () => {
    await expect(parse(`${'['.repeat(201)}${beside}${']'.repeat(201)}`)).rejects.toThrow('200 levels')
    await expect(parse(`${'{"a":'.repeat(201)}1${beside}${'}'.repeat(201)}`)).rejects.toThrow('200 levels')
  })

  it.skipIf(spaces === 0)('more items than are allowed are refused', async () => {
    const list = (items: number): string => `[${beside}${'1,'.repeat(items - 1)}1]`
    expect(await parse(list(1_000), 1_000)).toHaveLength(1_000)
    await expect(parse(list(1_001), 1_000)).rejects.toThrow('maxResponseItems')
  })

  it('what is no JSON is refused, and its text stays here', async () => {
    for (const text of ['', '"', '{"secret', '[1,]', '[1}', 'secret'])
      await expect(parse(`${text}${beside} `)).rejects.toThrow('the body is not valid JSON')
  })

  it('integers that a number would round keep their digits, and other numbers are numbers', async () => {
    const text = `[${beside}12345678901234567890,-9007199254740993,1234567890.123457000000,1e16,9007199254740991,"12345678901234567890"]`
    expect(await parse(text)).toEqual([
      '12345678901234567890',
      '-9007199254740993',
      1234567890.123457,
      1e16,
      9007199254740991,
      '12345678901234567890',
    ])
  })
})

it('4 MB of brackets are refused at once', { retry: 2 }, async () => {
  const text = '['.repeat(4_000_000)
  const from = performance.now()
  await expect(parse(text)).rejects.toThrow('200 levels')
  const refused = performance.now() - from
  const parsedFrom = performance.now()
  expect(() => JSON.parse(text) as unknown).toThrow(SyntaxError)
  expect(refused).toBeLessThan(performance.now() - parsedFrom)
})
