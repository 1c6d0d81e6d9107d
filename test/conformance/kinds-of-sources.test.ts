import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { sourceFilesUnder } from '@vinyasa/test-kit'
import { describe, expect, it } from 'vitest'
import { kinds } from '../../apps/gateway/src/sources/kinds.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const SOURCES = 'apps/gateway/src/sources/'

/** Who may speak of a kind of source by its name. */
const MAY: Readonly<Record<string, string>> = {
  [`${SOURCES}kinds.ts`]: 'It is the registry.',
  ...Object.fromEntries(Object.keys(kinds).map((kind) => [`${SOURCES}${kind}/`, 'It is the kind.'])),
  'apps/gateway/src/config/schema.ts':
    'It names the sections, which are validated before anything of sources is loaded.',
  'apps/gateway/src/commands/init.ts': 'It writes a config for a backend that it has looked at.',
  'apps/gateway/src/commands/migrate/': 'It writes a config for backends that another one names.',
  [`${SOURCES}elements.ts`]: 'It reads where each kind says that something comes from.',
  'apps/gateway/src/commands/against/': 'It knows what each kind calls by which setting.',
}

/** A kind as a text, or a section of the config. */
function asksFor(names: readonly string[]): RegExp {
  const kind = `(?:${names.join('|')})`
  return new RegExp(
    [
      String.raw`(?<!transport: )(['"\`])${kind}\1`,
      String.raw`\b(?:config|kinds)\??\.${kind}\b`,
      String.raw`\b${kind} = \{\}`,
      String.raw`[{,] *${kind}\b.*\}(?:: \w+)? = \w*config`,
    ].join('|'),
  )
}

function findIn(text: string, asks: RegExp = asksFor(Object.keys(kinds))): string[] {
  return text.split('\n').filter((line) => !/^\s*(\*|\/\/|\/\*)/.test(line) && asks.test(line))
}

describe('a kind of source is asked for by name in the registry alone', () => {
  it.each([
    ["kind === 'grpc' ? name : other", true],
    ["readonly kind: 'grpc' | 'rest'", true],
    ['Object.entries(config.rest ?? {})', true],
    ['const { federation = false, resolvers, grpc = {} } = config', true],
    ['const { dependencies = {}, grpc, rest } = config', true],
    ['function late({ server = {}, rest = {} }: GatewayConfig): Note[] {', true],
    ['const { endpoints, ...rest } = schema', false],
    ['const { port, ...rest } = config', false],
    ['const [first, ...rest] = items', false],
    ["import { createGrpcSource } from '@vinyasa/grpc-source'", false],
  ])('%s: %s', (line, asks) => expect(findIn(line)).toEqual(asks ? [line] : []))

  it('of a third kind, too', () => {
    const asks = asksFor([...Object.keys(kinds), 'files'])
    for (const line of ["kind === 'files' ? name : other", 'config.files !== undefined', 'kind === `rest`'])
      expect(findIn(line, asks)).toEqual([line])
    expect(findIn("kind === 'files' ? name : other")).toEqual([])
  })

  it('of the gateway', () => {
    const files = sourceFilesUnder(root, 'apps').filter((file) => file.startsWith('apps/gateway/src/'))
    expect(files.length).toBeGreaterThan(100)
    const found = files
      .filter((file) => !Object.keys(MAY).some((place) => file.startsWith(place)))
      .flatMap((file) =>
        findIn(readFileSync(`${root}/${file}`, 'utf8')).map((line) => `${file}: ${line.trim()}`),
      )
    expect(found).toEqual([])
  })
})
