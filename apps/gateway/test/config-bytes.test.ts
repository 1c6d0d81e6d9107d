import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startRestBackend, type RecordedRequest } from '@vinyasa/test-kit'
import * as fc from 'fast-check'
import { lexicographicSortSchema, printSchema } from 'graphql'
import { afterAll, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { loadConfig } from '../src/config/file/load-config.ts'
import type { GatewayConfig } from '../src/config/types.ts'
import { createGateway, type Gateway } from '../src/gateway.ts'
import { createLogger } from '../src/logging/logger.ts'

const folder = mkdtempSync(join(tmpdir(), 'config-bytes-'))
const backend = await startRestBackend(() => ({ json: { base_url: 'b', query_param: 1, timeout: true } }))
afterAll(async () => {
  await backend.stop()
  rmSync(folder, { recursive: true })
})

/** Keys that users give: names of GraphQL that look like settings, and those of the wire. */
const NAMES = [
  'per_page',
  'query_param',
  'base_url',
  'timeout',
  'header',
  'perPage',
  'max_backoff',
  'response_path',
]
const name = fc.constantFrom(...NAMES)
const wireName = fc.constantFrom(...NAMES, 'filter[user_name]', 'X-Api_key', 'a.b_c', 'ids[]')
const headerName = fc.constantFrom('X-Api_key', 'x-user_id', 'X-Query_param', 'timeout')
const argType = fc.constantFrom('String', 'Int', 'Boolean', '[String!]', '[Int]', 'ID', 'JSON', 'Float')

function record<T>(key: fc.Arbitrary<string>, value: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> {
  return fc.dictionary(key, value, { maxKeys: 4, noNullPrototype: true })
}

const template = fc.oneof(
  name.map((arg) => `{${arg}}`),
  fc.tuple(name, name).map(([a, b]) => `${a}-{${b}}`),
  fc.constant('5m'),
)
const bodyTemplate = fc.oneof(
  record(wireName, template).map((body) => JSON.stringify(body)),
  name.map((arg) => `{"${arg}":{${arg}},"base_url":"x"}`),
  fc.constant(false as const),
)
const responseSchema = record(
  name,
  fc.constantFrom('string', 'json', { type: 'json', key: 'base_url' }),
).filter((fields) => Object.keys(fields).length > 0)
const endpoint = fc.record(
  {
    method: fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE'),
    path: fc.constantFrom('/a', '/a_b/{per_page}', '/{timeout}/x', '/query_param'),
    queryParams: record(wireName, template),
    headers: record(headerName, template),
    queryArrayFormat: fc.constantFrom('repeat', 'comma', 'brackets'),
    bodyTemplate,
    parameters: fc.array(
      fc
        .record({
          name: wireName,
          in: fc.constantFrom('query', 'cookie'),
          arg: name,
          explode: fc.boolean(),
        })
        .filter((one) => one.in === 'query' || /^\w+$/.test(one.name)),
      { maxLength: 2 },
    ),
    types: record(name, argType),
    fields: responseSchema,
    headersOut: record(name, fc.record({ header: headerName })),
  },
  { requiredKeys: ['method', 'path', 'types'] },
)
type Endpoint = typeof endpoint extends fc.Arbitrary<infer T> ? T : never

/** What can be declared: every argument that is named has a place, and no two of one name in it. */
function endpointOf(one: Endpoint, index: number): object {
  const { types, fields, headersOut, bodyTemplate: body, method, ...rest } = one
  const isGet = method === 'GET'
  const text = JSON.stringify([rest.path, rest.queryParams, rest.headers, isGet ? '' : body])
  const used = new Set([...text.matchAll(/\{(\w+)\}/g)].map(([, arg]) => arg as string))
  for (const parameter of rest.parameters ?? []) used.add(parameter.arg)
  const isInPath = (arg: string): boolean => rest.path.includes(`{${arg}}`)
  const args = Object.entries(types).filter(([arg]) => used.has(arg))
  return {
    name: `field_${index}`,
    method,
    ...rest,
    ...(!isGet && body !== undefined && { bodyTemplate: body }),
    args: Object.fromEntries(args.map(([arg, type]) => [arg, isInPath(arg) ? 'String!' : type])),
    ...(fields && { responseSchema: { typeName: `Type_${index}`, fields } }),
    ...(headersOut && Object.keys(headersOut).length > 0 && { envelope: { headers: headersOut } }),
  }
}

const config = fc
  .record({
    defaultHeaders: record(headerName, fc.constant('5m')),
    endpoints: fc.array(endpoint, { minLength: 1, maxLength: 4 }),
    rename: record(fc.constantFrom('get_things', 'Base_url'), fc.constantFrom('per_page', 'queryParam2')),
    variables: record(fc.constantFrom('base_url', 'time_out'), fc.constantFrom('v1', '30s')),
    trustRequired: fc.constantFrom(true, false, ['Base_url.query_param']),
    headers: fc.boolean(),
  })
  .map(({ defaultHeaders, endpoints, ...openapi }) => ({
    rest: {
      query_param: {
        baseUrl: backend.url,
        noRetry: true,
        exposeErrors: true,
        defaultHeaders,
        endpoints: endpoints.map(endpointOf),
      },
      base_url: {
        baseUrl: `${backend.url}/doc`,
        noRetry: true,
        openapi: { file: 'document.json', ...openapi },
      },
    },
  }))

const Base_url = {
  type: 'object',
  required: ['query_param'],
  properties: {
    base_url: { type: 'string' },
    query_param: { type: 'integer' },
    timeout: { type: 'boolean' },
  },
}
const answer = {
  headers: { 'X-Rate_limit': { schema: { type: 'integer' } } },
  content: { 'application/json': { schema: Base_url } },
}
writeFileSync(
  join(folder, 'document.json'),
  JSON.stringify({
    openapi: '3.0.3',
    info: { title: 't', version: '1' },
    servers: [
      {
        url: 'https://{base_url}.example/{time_out}',
        variables: { base_url: { default: 'a' }, time_out: { default: 'b' } },
      },
    ],
    components: { schemas: { Base_url } },
    paths: {
      '/things/{thing_id}': {
        get: {
          operationId: 'get_things',
          parameters: [
            { name: 'thing_id', in: 'path', required: true, schema: { type: 'string' } },
            { name: 'per_page', in: 'query', schema: { type: 'integer', maximum: 100 } },
            { name: 'filter', in: 'query', style: 'deepObject', schema: Base_url },
          ],
          responses: { 200: answer },
        },
        put: {
          requestBody: { content: { 'application/json': { schema: Base_url } } },
          responses: { 200: answer },
        },
      },
    },
  }),
)

const SETTINGS =
  'baseUrl noRetry exposeErrors defaultHeaders queryParams queryArrayFormat bodyTemplate responseSchema typeName trustRequired'.split(
    ' ',
  )

/** Of these the keys are the user's. */
const MAPS = new Set('rest defaultHeaders queryParams headers args fields rename variables'.split(' '))

/** The same config with the settings of sources and endpoints as the specification spells them. */
function specified(value: any, isData = false): any {
  if (Array.isArray(value)) return value.map((item) => specified(item, isData))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => {
      const spelled =
        !isData && SETTINGS.includes(key) ? key.replace(/[A-Z]/g, (one) => `_${one.toLowerCase()}`) : key
      if (isData) return [spelled, member]
      if (key === 'rest')
        return [
          key,
          Object.fromEntries(
            Object.entries(member as object).map(([source, own]) => [source, specified(own)]),
          ),
        ]
      return [spelled, specified(member, MAPS.has(key))]
    }),
  )
}

let files = 0
async function open(extension: string, text: string): Promise<Gateway> {
  const file = join(folder, `c${files++}.${extension}`)
  writeFileSync(file, text)
  const { config: loaded, baseDirectory } = await loadConfig({ file, directory: folder, environment: {} })
  return gatewayOf(loaded, baseDirectory)
}

async function gatewayOf(given: GatewayConfig, baseDirectory: string): Promise<Gateway> {
  return createGateway(given, { baseDirectory, logger: await createLogger({ level: 'silent' }) })
}

const VALUES: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  String: fc.constantFrom('a b', '5m', 'é', '{per_page}', 'per_page'),
  ID: fc.constantFrom('1', 'a/b'),
  Int: fc.integer({ min: -5, max: 5 }),
  Long: fc.constant('9007199254740993'),
  Float: fc.constantFrom(0.5, -1),
  Boolean: fc.boolean(),
  JSON: fc.constantFrom<unknown>('x', { base_url: 1, perPage: [2] }, [1, 'a'], 3),
}
const seeded = (arbitrary: fc.Arbitrary<unknown>, seed: number): unknown =>
  fc.sample(arbitrary, { seed, numRuns: 1 })[0]

/** A value of a type, as JSON variables have it. */
function valueOf(type: string, { schema }: Gateway, seed: number): unknown {
  const bare = type.replace(/!$/, '')
  if (bare.startsWith('['))
    return [
      valueOf(bare.slice(1, -1), { schema } as Gateway, seed),
      valueOf(bare.slice(1, -1), { schema } as Gateway, seed + 1),
    ]
  const arbitrary = VALUES[bare]
  if (arbitrary) return seeded(arbitrary, seed)
  const fields: Record<string, { type: unknown }> = (schema.getType(bare) as any).getFields()
  return Object.fromEntries(
    Object.entries(fields).map(([key, field]) => [
      key,
      valueOf(String(field.type), { schema } as Gateway, seed + key.length),
    ]),
  )
}

/** One operation of every field, with values made by chance of its arguments' types. */
function operationsOf(gateway: Gateway, seed: number): readonly { query: string; variables: object }[] {
  const roots = [
    ['query', gateway.schema.getQueryType()],
    ['mutation', gateway.schema.getMutationType()],
  ] as const
  return roots.flatMap(([kind, root]) =>
    Object.values(root?.getFields() ?? {}).map((field, index) => {
      const given = field.args.filter((arg, at) => String(arg.type).endsWith('!') || (seed >> at) % 3 > 0)
      const declared = given.map((arg) => `$${arg.name}: ${String(arg.type)}`).join(', ')
      const passed = given.map((arg) => `${arg.name}: $${arg.name}`).join(', ')
      const isLeaf = !(
        'getFields' in (gateway.schema.getType(String(field.type).replaceAll(/[[\]!]/g, '')) ?? {})
      )
      return {
        query: `${kind}${declared && `(${declared})`} { ${field.name}${passed && `(${passed})`} ${isLeaf ? '' : '{ __typename }'} }`,
        variables: Object.fromEntries(
          given.map((arg, at) => [arg.name, valueOf(String(arg.type), gateway, seed + index + at)]),
        ),
      }
    }),
  )
}

async function answersOf(gateway: Gateway, operations: ReturnType<typeof operationsOf>) {
  const before = backend.requests.length
  const answers: unknown[] = []
  for (const operation of operations) {
    const request = new Request('http://gateway/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(operation),
    })
    answers.push(await (await gateway.fetch(request)).json())
  }
  return { answers, requests: backend.requests.slice(before).map(bytesOf) }
}

function bytesOf({ method, rawUrl, rawHeaders, body }: RecordedRequest): object {
  return { method, rawUrl, rawHeaders, body: body.toString('latin1') }
}

it('any REST config gives one schema and the same bytes at the backend, in TypeScript, JSON and YAML', async () => {
  let sent = 0
  const isNothingSent = (): boolean => sent === 0
  const alike = fc.asyncProperty(config, fc.nat(10_000), async (own, seed) => {
    const texts = [
      ['ts', `export default ${JSON.stringify(own)}`],
      ['json', JSON.stringify(own)],
      ['yaml', stringify(own, { aliasDuplicateObjects: false })],
      ['yaml', stringify(specified(own), { aliasDuplicateObjects: false })],
    ] as const
    // What the connector refuses, it refuses in the same words.
    const opened = await Promise.allSettled([
      // What is meant: no reader of files has touched it.
      gatewayOf(own as GatewayConfig, folder),
      ...texts.map(([extension, text]) => open(extension, text)),
    ])
    const refusals = opened.map((one) =>
      one.status === 'rejected' ? (one.reason as Error).message : undefined,
    )
    expect(new Set(refusals).size).toBe(1)
    const gateways = opened.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    const [first] = gateways
    if (!first) return
    const schemas = gateways.map(({ schema }) => printSchema(lexicographicSortSchema(schema)))
    const operations = operationsOf(first, seed)
    const results = []
    for (const gateway of gateways) results.push(await answersOf(gateway, operations))
    for (const gateway of gateways) await gateway.close()
    expect(new Set(schemas).size).toBe(1)
    for (const result of results) expect(result).toEqual(results[0])
    sent += results[0]?.requests.length ?? 0
  })
  // Most are configs that a gateway starts with: without one of those it would show nothing.
  do await fc.assert(alike, { numRuns: 6, interruptAfterTimeLimit: 40_000 })
  while (isNothingSent())
}, 90_000)
