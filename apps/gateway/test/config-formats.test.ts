import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { definitionOf } from '../src/config/definition.ts'
import { loadConfig } from '../src/config/load-config.ts'
import { gatewayConfig, parseConfig } from '../src/config/schema.ts'

const folder = mkdtempSync(join(tmpdir(), 'config-formats-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** One config under the names of its types, and under those of the specification. */
interface Spelled {
  readonly own: unknown
  readonly specified: unknown
}

/** Names that users give, among them those that look like settings. */
const userName = fc.constantFrom(
  'per_page',
  'base_url',
  'query_param',
  'timeout',
  'max_backoff',
  'header',
  'X-Api_key',
  'perPage',
  'shop.v1.Orders_Service/get_order',
  'Query.user_by_id',
  'constructor',
  '404',
)

function spelled(value: unknown): fc.Arbitrary<Spelled> {
  return fc.constant({ own: value, specified: value })
}

/** Any config that a schema takes, but for functions and objects of classes, which data cannot hold. */
function arbitraryOf(schema: unknown, depth = 0): fc.Arbitrary<Spelled> | undefined {
  const definition = definitionOf(schema) as any
  switch (definition.type) {
    // A value that keeps every bound of the schema at once.
    case 'string':
      return spelled('/some_text_of_at_least_32_characters')
    case 'number':
      return spelled(150)
    case 'boolean':
      return fc.boolean().map((value) => ({ own: value, specified: value }))
    case 'enum':
      return fc.constantFrom<unknown>(...Object.values(definition.entries)).chain(spelled)
    case 'literal':
      return spelled(definition.values[0])
    case 'unknown':
      return fc.dictionary(userName, fc.boolean(), { noNullPrototype: true }).chain(spelled)
    case 'array':
      return listOf(arbitraryOf(definition.element, depth + 1))
    case 'union': {
      const options = definition.options.map((option: unknown) => arbitraryOf(option, depth + 1))
      const possible: fc.Arbitrary<Spelled>[] = options.filter(Boolean)
      return possible.length > 0 ? fc.oneof(...possible) : undefined
    }
    case 'record': {
      const value = depth < 9 ? arbitraryOf(definition.valueType, depth + 1) : undefined
      return (
        value &&
        fc.array(fc.tuple(userName, value), { maxLength: 3 }).map((entries) => ({
          own: Object.fromEntries(entries.map(([key, { own }]) => [key, own])),
          specified: Object.fromEntries(entries.map(([key, { specified }]) => [key, specified])),
        }))
      )
    }
    case 'object':
      return objectOf(definition.shape, depth)
    default:
      return undefined
  }
}

function listOf(item: fc.Arbitrary<Spelled> | undefined): fc.Arbitrary<Spelled> | undefined {
  return (
    item &&
    fc.array(item, { minLength: 1, maxLength: 2 }).map((items) => ({
      own: items.map(({ own }) => own),
      specified: items.map(({ specified }) => specified),
    }))
  )
}

function objectOf(shape: Record<string, any>, depth: number): fc.Arbitrary<Spelled> {
  const members: Record<string, fc.Arbitrary<Spelled>> = {}
  const requiredKeys: string[] = []
  for (const [key, member] of Object.entries(shape)) {
    const value = arbitraryOf(member, depth + 1)
    if (!value) continue
    members[key] = value
    if (member.def.type !== 'optional') requiredKeys.push(key)
  }
  return fc.record(members, { requiredKeys, noNullPrototype: true }).map((chosen) => ({
    own: Object.fromEntries(Object.entries(chosen).map(([key, { own }]) => [key, own])),
    specified: Object.fromEntries(
      Object.entries(chosen).map(([key, { specified }]) => [
        key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
        specified,
      ]),
    ),
  }))
}

const anyConfig = arbitraryOf(gatewayConfig) as fc.Arbitrary<Spelled>

async function loaded(name: string, text: string): Promise<unknown> {
  const file = join(folder, name)
  writeFileSync(file, text)
  return (await loadConfig({ file, directory: folder, environment: {} })).config
}

describe('a config', () => {
  it('is the same in TypeScript, JSON and YAML, under its own names and those of the specification', async () => {
    await fc.assert(
      fc.asyncProperty(anyConfig, async ({ own, specified }) => {
        expect(await loaded('c.json', JSON.stringify(own))).toEqual(own)
        expect(await loaded('c.yaml', stringify(own, { aliasDuplicateObjects: false }))).toEqual(own)
        expect(await loaded('c.ts', `export default ${JSON.stringify(own)}`)).toEqual(own)
        expect(await loaded('s.json', JSON.stringify(specified))).toEqual(own)
        expect(await loaded('s.yaml', stringify(specified))).toEqual(own)
      }),
      { numRuns: 60 },
    )
  }, 60_000)

  it("takes the specification's own words and durations, and leaves the user's keys alone", () => {
    const userKeys = { per_page: '{per_page}', query_param: 'x', timeout: '5' }
    const shop = {
      base_url: 'http://x',
      timeout: '30s',
      retry: { max_retries: 3, initial_backoff: '100ms', max_backoff: 2 },
      default_header: userKeys,
      endpoints: [{ name: 'a', path: '/', header: userKeys, query_param: userKeys }],
    }
    expect(parseConfig({ rest: { shop_api: shop } })).toEqual({
      rest: {
        shop_api: {
          baseUrl: 'http://x',
          timeoutMs: 30_000,
          retry: { maxRetries: 3, initialBackoffMs: 100, maxBackoffMs: 2000 },
          defaultHeaders: userKeys,
          endpoints: [{ name: 'a', path: '/', headers: userKeys, queryParams: userKeys }],
        },
      },
    })
  })
})
