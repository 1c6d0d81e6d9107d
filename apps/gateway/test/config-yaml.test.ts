import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { loadConfig } from '../src/config/file/load-config.ts'
import type { GatewayConfig } from '../src/config/types.ts'

const folder = mkdtempSync(join(tmpdir(), 'config-yaml-'))
afterAll(() => rmSync(folder, { recursive: true }))

async function load(
  content: string | Uint8Array,
  environment: Record<string, string> = {},
  name = 'c.yaml',
): Promise<GatewayConfig> {
  const file = join(folder, name)
  writeFileSync(file, content)
  return (await loadConfig({ file, directory: folder, environment })).config
}

async function refusal(content: string, environment: Record<string, string> = {}): Promise<string> {
  const error: unknown = await load(content, environment).catch((reason: unknown) => reason)
  if (!(error instanceof Error)) throw new Error('the config was taken')
  expect(error.constructor.name).toBe('ConfigError')
  return error.message.replaceAll(`${folder}/`, '')
}

const settings = fc.record(
  {
    baseUrl: fc.constantFrom('http://a', 'http://b/ü'),
    timeoutMs: fc.nat(100),
    prefix: fc.constantFrom('p', 'q'),
    cacheSize: fc.nat(5),
    defaultHeaders: fc.constantFrom({ a: '1' }, { b: '2', c: '3' }),
  },
  { requiredKeys: ['baseUrl'] },
)

/** How editors, shells and templates write one and the same document. */
const writing = fc.record({
  before: fc.constantFrom('', '---\n', '# a comment\n---\n', '%YAML 1.2\n---\n'),
  after: fc.constantFrom('', '---\n', '...\n', '---\n# nothing\n', '---\n---\n'),
  end: fc.constantFrom('\n', '\r\n'),
  encoding: fc.constantFrom('utf-8', 'utf-8 with a mark', 'utf-16le', 'utf-16be'),
})

function bytesOf(text: string, encoding: string): Uint8Array {
  if (encoding === 'utf-8') return Buffer.from(text)
  if (encoding === 'utf-8 with a mark') return Buffer.from(`\ufeff${text}`)
  const bytes = Buffer.from(`\ufeff${text}`, 'utf16le')
  return encoding === 'utf-16le' ? bytes : bytes.swap16()
}

describe('one config', () => {
  it('is the same however its document is written', async () => {
    await fc.assert(
      fc.asyncProperty(settings, writing, async (own, { before, after, end, encoding }) => {
        const text = `${before}${stringify({ rest: { own } })}${after}`.replaceAll('\n', end)
        expect(await load(bytesOf(text, encoding))).toEqual({ rest: { own } })
        const json = JSON.stringify({ rest: { own } }, null, 2).replaceAll('\n', end)
        expect(await load(bytesOf(json, encoding), {}, 'c.json')).toEqual({ rest: { own } })
      }),
      { numRuns: 100 },
    )
  })

  it('may merge what stands elsewhere, as YAML 1.1 has it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(settings, { minLength: 1, maxLength: 3 }), settings, async (bases, own) => {
        const anchored = bases.map((base, index) => `  b${index}: &b${index} ${JSON.stringify(base)}\n`)
        const names = bases.map((_, index) => `*b${index}`)
        const merged = names.length === 1 ? names[0] : `[${names.join(', ')}]`
        const text = `x-parts:\n${anchored.join('')}rest: { own: { <<: ${merged}, ${JSON.stringify(own).slice(1)} }\n`
        // The first of a list that has a name wins, and what is its own over all.
        expect(await load(text)).toEqual({ rest: { own: Object.assign({}, ...bases.toReversed(), own) } })
      }),
      { numRuns: 100 },
    )
  })

  it('says of a merged mistake where it stands', async () => {
    expect(await refusal('x-a: &a\n  timeoutMs: soon\nrest:\n  s: { <<: [*a], baseUrl: http://s }\n')).toBe(
      'c.yaml:2:14: rest.s.timeoutMs: expected number, received string',
    )
  })
})

describe('what is no config', () => {
  it.each<[string, string]>([
    ['', 'c.yaml:1:1: the file has no settings; `vinyasa init` creates a config'],
    [
      '# all of it\n# is commented out\n',
      'c.yaml:1:1: the file has no settings; `vinyasa init` creates a config',
    ],
    ['~\n', 'c.yaml:1:1: the file has no settings; `vinyasa init` creates a config'],
    [
      'status: true\n---\nmetrics: true\n',
      'c.yaml:3:1: a second YAML document starts here, but a config must be a single document; remove the "---", or move the second document to another file and add that file to extends',
    ],
    [
      'status: true\nrest: &all\n  s: *all\n',
      'c.yaml:3:6: the alias *all refers to a value that contains this alias; replace the alias with a plain value',
    ],
    [
      'status: true\nrest: *gone\n',
      'c.yaml:2:7: the alias *gone has no anchor &gone above it; define the anchor first',
    ],
    ['server: { port: !env PORT }', 'c.yaml:1:17: Unresolved tag: !env; write a plain value'],
    [
      'server: { port: ${PORT:-4000} }',
      'c.yaml:1:17: environment variables inside { } or [ ] must be quoted, for example "${NAME}" or "${NAME:-default}"',
    ],
    [
      'graphql:\n  cors: [${ORIGIN}]',
      'c.yaml:2:10: environment variables inside { } or [ ] must be quoted, for example "${NAME}" or "${NAME:-default}"',
    ],
    ['status: yes', 'c.yaml:1:9: status: expected boolean, received string; "yes" is a string, write true'],
    ['status: off', 'c.yaml:1:9: status: expected boolean, received string; "off" is a string, write false'],
    [
      'rest: { "${NAME}": { baseUrl: http://s } }',
      'c.yaml:1:9: rest.${NAME}: "${" is not allowed in names; environment variables are supported only in values',
    ],
  ])('%j', async (text, expected) => {
    expect(await refusal(text)).toBe(expected)
  })

  it('neither fills the memory nor the stack', async () => {
    const lists = Array.from({ length: 12 }, (_, index) => {
      const items = Array<string>(9).fill(index === 0 ? 'x' : `*a${index - 1}`)
      return `x-${index}: &a${index} [${items.join(',')}]\n`
    })
    expect(await refusal(lists.join(''))).toMatch(/^c\.yaml:1:1: Excessive alias count/)
    expect(await refusal(`status: ${'['.repeat(100_000)}`)).toMatch(/^c\.yaml/)
    expect(await refusal(`status: ${'['.repeat(5000)}${']'.repeat(5000)}`)).toMatch(/^c\.yaml/)
  })
})

describe('variables', () => {
  const name = fc.constantFrom('A', 'B', 'C_1')
  const plain = fc.constantFrom('', 'x', '4', 'a b', 'http://h:1/', '{"k":{}}')
  interface Part {
    readonly text: string
    readonly value: (environment: Record<string, string>) => string
  }
  const { part } = fc.letrec<{ part: Part; default: Part }>((tie) => ({
    part: fc.oneof(
      { depthSize: 'small' },
      plain.map((text): Part => ({ text, value: () => text })),
      fc.constant<Part>({ text: '$${', value: () => '${' }),
      fc.tuple(name, tie('default')).map(([one, fallback]) => ({
        text: `\${${one}:-${fallback.text}}`,
        value: (environment: Record<string, string>) => environment[one] || fallback.value(environment),
      })),
    ),
    default: fc.oneof(
      { depthSize: 'small' },
      plain.map((text): Part => ({ text, value: () => text })),
      tie('part'),
    ),
  }))

  it('stand within defaults too', async () => {
    const environment = fc.dictionary(name, fc.constantFrom('', 'set', '7'), { noNullPrototype: true })
    const parts = fc.array(
      part.filter(({ text }) => !text.includes('$${') || text === '$${'),
      { minLength: 1, maxLength: 4 },
    )
    await fc.assert(
      fc.asyncProperty(parts, environment, async (given, set) => {
        const host = given.map(({ text }) => text).join('')
        const expected = given.map(({ value }) => value(set)).join('')
        expect(await load(stringify({ server: { host } }), set)).toEqual({ server: { host: expected } })
      }),
      { numRuns: 300 },
    )
  })

  it.each(['${A-b}', '${A:?needed}', '${1A}', '${A', '${}', '${A:-b', '${A B}', 'x ${A.B} y'])(
    '%s is none, and no text either',
    async (text) => {
      expect(await refusal(`server: { host: '${text}' }`, { A: 'secret' })).toBe(
        `c.yaml:1:17: server.host: cannot read a variable at "${text.replace('x ', '')}"; expected \${NAME} or \${NAME:-default}, or $\${ for a literal \${`,
      )
    },
  )

  it('may name the files that one extends', async () => {
    writeFileSync(join(folder, 'production.yaml'), 'status: true\n')
    expect(await load('extends: ${STAGE:-production}.yaml')).toEqual({ status: true })
    expect(await refusal('extends: ${STAGE}.yaml')).toMatch(/^c\.yaml:1:10: extends: .*STAGE is not set/)
  })
})
