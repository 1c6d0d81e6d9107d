import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { loadConfig } from '../src/config/file/load-config.ts'
import type { GatewayConfig } from '../src/config/types.ts'
import type { ConfigError } from '../src/errors.ts'

const folder = mkdtempSync(join(tmpdir(), 'config-files-'))
afterAll(() => rmSync(folder, { recursive: true }))

function write(name: string, text: string): string {
  const file = join(folder, name)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  return file
}

async function load(
  text: string,
  environment: Record<string, string> = {},
  name = 'c.yaml',
): Promise<GatewayConfig> {
  return (await loadConfig({ file: write(name, text), directory: folder, environment })).config
}

/** The lines of the error, without the folder. */
async function mistakes(
  text: string,
  environment: Record<string, string> = {},
  name = 'c.yaml',
): Promise<readonly string[]> {
  const error: unknown = await load(text, environment, name).catch((reason: unknown) => reason)
  if (!(error instanceof Error)) throw new Error('the config was taken')
  return error.message.split('\n').map((line) => line.replaceAll(`${folder}/`, ''))
}

describe('variables in a config file', () => {
  const environment = { NUMBER: '8080', SPACED: ' 8080 ', ON: 'true', OFF: 'false', WORD: 'high', EMPTY: '' }

  it.each<[string, string, GatewayConfig]>([
    ['a number', 'server: { port: "${NUMBER}" }', { server: { port: 8080 } }],
    ['a number with spaces around it', 'server: { port: "${SPACED}" }', { server: { port: 8080 } }],
    ['a number made of several', 'server: { port: "${ONE:-1}${TWO:-2}" }', { server: { port: 12 } }],
    ['a default for a number', 'server: { port: "${PORT:-4000}" }', { server: { port: 4000 } }],
    ['a default for an empty one, as in a shell', 'server: { port: "${EMPTY:-1}" }', { server: { port: 1 } }],
    ['true', 'status: ${ON}', { status: true }],
    ['false', 'graphql: { graphiql: "${OFF}" }', { graphql: { graphiql: false } }],
    ['false, where an object may be', 'responseCache: ${OFF}', { responseCache: false }],
    ['a number that is text there', 'redisUrl: ${NUMBER}', { redisUrl: '8080' }],
    ['true that is text there', 'server: { host: "${ON}" }', { server: { host: 'true' } }],
    ['an empty text', 'server: { host: "[${EMPTY}]" }', { server: { host: '[]' } }],
    ['a choice', 'preset: ${PRESET:-production}', { preset: 'production' }],
    ['false or a choice', 'defer: ${OFF}', { defer: false }],
    ['a literal', 'server: { host: "$${NUMBER}" }', { server: { host: '${NUMBER}' } }],
    ['no variable', 'server: { host: "$5" }', { server: { host: '$5' } }],
    [
      'under the names of the specification',
      'rest: { s: { base_url: "${URL:-http://s}", timeout: "${T:-30s}", retry: { max_retries: "${R:-2}" } } }',
      { rest: { s: { baseUrl: 'http://s', timeoutMs: 30_000, retry: { maxRetries: 2 } } } },
    ],
    [
      'under the names that gRPC shares with REST',
      'grpc: { s: { timeout: 5s, retry: { max_retries: 2, initial_backoff: 20ms }, methods: { m: { timeout: 1 } } } }',
      {
        grpc: {
          s: {
            timeoutMs: 5000,
            retry: { maxRetries: 2, initialBackoffMs: 20 },
            methods: { m: { timeoutMs: 1000 } },
          },
        },
      },
    ],
    [
      'a duration in seconds',
      'rest: { s: { base_url: http://s, timeout: "${T:-30}" } }',
      { rest: { s: { baseUrl: 'http://s', timeoutMs: 30_000 } } },
    ],
    [
      'data of any kind stays text',
      'access: { policies: { p: { claim: c, is: ["${NUMBER}"] } } }',
      { access: { policies: { p: { claim: 'c', is: ['8080'] } } } },
    ],
  ])('%s', async (_, text, expected) => {
    expect(await load(text, environment)).toEqual(expected)
  })

  it('any number and boolean comes as it was, and no other text as one', async () => {
    const value = fc.oneof(fc.nat(65_535), fc.boolean(), fc.stringMatching(/^[\w .+-]{1,8}$/))
    await fc.assert(
      fc.asyncProperty(value, async (set) => {
        const environment = { SET: String(set) }
        const [port, status, host] = await Promise.all(
          ['server: { port: "${SET}" }', 'status: ${SET}', 'server: { host: "${SET}" }'].map((text, index) =>
            load(text, environment, `p${index}.yaml`).catch(() => undefined),
          ),
        )
        const number = Number(set)
        const isPort =
          typeof set !== 'boolean' && String(set).trim() !== '' && number >= 0 && Number.isInteger(number)
        expect(port?.server?.port).toBe(isPort && number <= 65_535 ? number : undefined)
        const text = String(set).trim()
        expect(status?.status).toBe(text === 'true' ? true : text === 'false' ? false : undefined)
        expect(host?.server?.host).toBe(String(set))
      }),
      { numRuns: 100 },
    )
  })

  it('what is wrong with one is said without its value', async () => {
    const secret = 'hunter2hunter2'
    const text =
      'server:\n  port: ${SECRET}\npreset: ${SECRET}\nmetrics: "${SECRET}"\nlog: { level: "${SECRET}" }\n'
    const lines = await mistakes(text, { SECRET: secret })
    expect(lines).toHaveLength(4)
    expect(lines.join()).not.toContain(secret)
    expect(lines[0]).toBe('c.yaml:2:9: server.port: expected number, received string (in ${SECRET})')
  })

  it('all that are not set are named at once', async () => {
    expect(await mistakes('server: { port: "${A}" }\nrest:\n  s: { base_url: "${B}" }\n')).toEqual([
      'c.yaml:1:17: server.port: the environment variable A is not set; set it, or write ${A:-default}',
      'c.yaml:3:18: rest.s.base_url: the environment variable B is not set; set it, or write ${B:-default}',
    ])
  })
})

describe('mistakes in a config file', () => {
  it('are told all in one run, each with its place', async () => {
    const text = `server:
  prot: 4000
  host: 1
rest:
  shop:
    baseURL: http://shop
    endpoints:
      - { name: a }
  users:
    timeoutMs: soon
responseCache: { maxSize: many, ttl: 1 }
access: { fields: { Query.a: { authenticated: yes please } } }
`
    expect(await mistakes(text)).toEqual([
      'c.yaml:2:3: server.prot: unknown setting; did you mean port?',
      'c.yaml:3:9: server.host: expected string, received number',
      'c.yaml:6:5: rest.shop.baseURL: unknown setting; did you mean baseUrl?',
      'c.yaml:8:9: rest.shop.endpoints[0].path: expected string, received undefined',
      'c.yaml:10:16: rest.users.timeoutMs: expected number, received string',
      'c.yaml:11:27: responseCache.maxSize: expected number, received string',
      expect.stringMatching(/^c\.yaml:11:33: responseCache\.ttl: unknown setting/),
      'c.yaml:12:47: access.fields["Query.a"].authenticated: expected true',
    ])
  })

  it('have the same places in JSON', async () => {
    const text = '{\n  "server": { "prot": 1,\n    "port": "x" }\n}'
    expect(await mistakes(text, {}, 'c.json')).toEqual([
      'c.json:2:15: server.prot: unknown setting; did you mean port?',
      'c.json:3:13: server.port: expected number, received string',
    ])
  })

  it.each([
    ['c.yaml', 'server: {\n  port: 1\nlog: }', /^c\.yaml:\d+:\d+: /],
    ['c.yaml', 'a: 1\na: 2', /^c\.yaml:2:1: Map keys must be unique/],
    ['c.yaml', 'server: *none', /^c\.yaml:1:9: the alias \*none has no anchor &none above it/],
    ['c.json', '{\n  "server": {,}\n}', /^c\.json:2:14: /],
    ['c.json', '{ "server": ', /^c\.json:1:\d+: Unexpected end/],
    ['c.json', '', /^c\.json:1:1: Unexpected end/],
  ])('%s that is none: %j', async (name, text, line) => {
    expect(await mistakes(text, {}, name)).toEqual([expect.stringMatching(line)])
  })

  it('behind an anchor are where it stands', async () => {
    const text = 'rest:\n  a: &a { base_url: http://a, timeoutMs: x }\n  b: *a\n'
    expect(await mistakes(text)).toEqual([
      'c.yaml:2:42: rest.a.timeoutMs: expected number, received string',
      'c.yaml:2:42: rest.b.timeoutMs: expected number, received string',
    ])
  })

  it('of code have no lines, and are told at once all the same', async () => {
    const text = 'export default { server: { prot: 1 }, preset: 2, $schema: "x" }'
    expect(await mistakes(text, {}, 'c.ts')).toEqual([
      expect.stringMatching(/^c\.ts: preset: Invalid option/),
      'c.ts: server.prot: unknown setting; did you mean port?',
    ])
  })
})

describe('a file that extends others', () => {
  it('adds to their objects and replaces all else', async () => {
    write('base.yaml', 'server: { port: 1, host: a }\ngraphql: { cors: ["https://a.example"] }\n')
    write('more/team.json', '{ "extends": "../base.yaml", "server": { "host": "b" }, "status": true }')
    const text =
      'extends: [more/team.json]\ngraphql: { cors: ["https://b.example"] }\nserver: { graceMs: "${G:-5}" }\n'
    const file = write('c.yaml', text)
    const loaded = await loadConfig({ file, directory: folder, environment: {} })
    expect(loaded.config).toEqual({
      server: { port: 1, host: 'b', graceMs: 5 },
      graphql: { cors: ['https://b.example'] },
      status: true,
    })
    expect(loaded.baseDirectory).toBe(folder)
    expect(loaded.files.map((name) => name.replace(`${folder}/`, ''))).toEqual([
      'base.yaml',
      'more/team.json',
      'c.yaml',
    ])
  })

  it('says of each mistake in which of them it is', async () => {
    write('base.yaml', '# one\nserver:\n  port: high\n')
    expect(await mistakes('extends: base.yaml\nserver: { prot: 1 }\n')).toEqual([
      'base.yaml:3:9: server.port: expected number, received string',
      'c.yaml:2:11: server.prot: unknown setting; did you mean port?',
    ])
  })

  it.each([
    ['extends: gone.yaml', /^c\.yaml:1:10: extends: gone\.yaml: no such file$/],
    ['extends: c.yaml', /^c\.yaml:1:10: extends: the file extends itself; remove c\.yaml from extends$/],
    ['extends: 5', /^c\.yaml:1:10: extends: expected a file name or a list of file names$/],
    [
      'extends: other.ts',
      /^c\.yaml:1:10: extends: expected a \.yaml, \.yml or \.json file, got "other\.ts"$/,
    ],
  ])('%s', async (text, line) => {
    expect(await mistakes(text)).toEqual([expect.stringMatching(line)])
  })
})

it('names all that was asked for, in whichever of them the mistake is, for who waits for the fix', async () => {
  write('fine.yaml', 'status: true\n')
  write('wrong.yaml', 'extends: fine.yaml\nserver: { prot: 1 }\n')
  write('torn.yaml', 'server: {\n')
  const names = fc.uniqueArray(fc.constantFrom('fine.yaml', 'wrong.yaml', 'torn.yaml', 'gone.yaml'))
  await fc.assert(
    fc.asyncProperty(names, async (extended) => {
      const file = write('c.yaml', `extends: ${JSON.stringify(extended)}\nstatus: true\n`)
      const loaded = await loadConfig({ file, directory: folder, environment: {} }).catch(
        (error: ConfigError) => error,
      )
      // What cannot be read ends the reading.
      const end = extended.findIndex((name) => name === 'torn.yaml' || name === 'gone.yaml')
      const read = end < 0 ? [...extended, 'c.yaml'] : extended.slice(0, end + 1)
      const expected = read.flatMap((name) => (name === 'wrong.yaml' ? ['fine.yaml', name] : [name]))
      expect(new Set(loaded.files)).toEqual(new Set(expected.map((name) => join(folder, name))))
    }),
  )
})
