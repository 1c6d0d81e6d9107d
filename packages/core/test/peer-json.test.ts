import { describe, expect, it } from 'vitest'
import { parsePeerJson } from '../src/index.ts'

const nested = (levels: number): string => `${'['.repeat(levels)}"${' '.repeat(5_000)}"${']'.repeat(levels)}`

describe('parsePeerJson', () => {
  it.each(['{"a":[1,"["]}', nested(20_000), `[${'1,'.repeat(99_998)}1]`])(
    'parses JSON within the limits: %.20s',
    (text) => expect(parsePeerJson(text)).toBeTypeOf('object'),
  )

  it.each([
    [nested(20_001), 'has more than 20000 levels'],
    [`[${'1,'.repeat(100_000)}1]`, 'has more than 100000 items'],
    ['['.repeat(1_000_000), 'has more than 20000 levels'],
    ['{"a":', 'JSON'],
  ])('refuses %.20s', (text, message) => {
    expect(() => parsePeerJson(text)).toThrow(SyntaxError)
    expect(() => parsePeerJson(text)).toThrow(message)
  })
})
