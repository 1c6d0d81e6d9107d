import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLogger } from '../src/logging/logger.ts'
import { OWN_SCHEMA, startGateway } from './support/gateway.ts'

const INTERNALS =
  /at position|Unexpected token|JSON\.parse|SyntaxError|TypeError|node_modules|\.ts:|\.js:|"stack"/i

/** Names that mean something to a server, to a promise, to JSON or to a prototype. */
const names = fc.constantFrom(
  'query',
  'variables',
  'operationName',
  'extensions',
  'status',
  'headers',
  'body',
  'statusText',
  'then',
  'toJSON',
  '__proto__',
  'constructor',
  'toString',
  'length',
  'id',
  'hasNext',
  'data',
  'errors',
)
const values = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom('{ __typename }', 'query ($v: ID) { __typename }', '', 200, true, null),
)
const members = fc.array(fc.tuple(names, values), { maxLength: 5 })
/** As text, so that `__proto__` is a member like the others and a name can stand twice. */
const asObject = (list: readonly (readonly [string, unknown])[]): string =>
  `{${list.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`
const objects = members.map(asObject)
const valid = members.map((list) => asObject([['query', '{ __typename }'], ...list]))
const single = fc.oneof(
  objects,
  valid,
  values.map((value) => JSON.stringify(value)),
)
const operations = fc.oneof(
  single,
  fc.array(single, { maxLength: 3 }).map((list) => `[${list.join(',')}]`),
)
const paths = fc.oneof(
  fc.constantFrom(
    'variables',
    'variables.v',
    '0.variables.v',
    'query',
    '',
    '.',
    '__proto__.x',
    'constructor.prototype.x',
  ),
  fc.array(names, { maxLength: 4 }).map((steps) => steps.join('.')),
)
const maps = fc.oneof(
  fc.constant('{}'),
  fc
    .dictionary(fc.constantFrom('0', '1', 'x'), fc.array(paths, { maxLength: 2 }))
    .map((map) => JSON.stringify(map)),
  fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.stringify(value)),
)

type Request = (operations: string, map: string) => RequestInit
const doors: Readonly<Record<string, Request>> = {
  'a JSON body': (body) => ({ body, headers: { 'content-type': 'application/json' } }),
  'a multipart body'(text, map) {
    const body = new FormData()
    body.set('operations', text)
    body.set('map', map)
    body.set('0', new File(['x'], 'x.txt'))
    return { body }
  },
  'a form'(text) {
    const form = new URLSearchParams()
    const value: unknown = JSON.parse(text)
    for (const [name, one] of Object.entries(Object(value) as object))
      form.append(name, typeof one === 'string' ? one : JSON.stringify(one))
    return { body: form }
  },
}

describe.each([
  { uploads: false, batching: 1 },
  { uploads: {}, batching: 10 },
])('with %o', (graphql) => {
  it.each(Object.entries(doors))('whatever JSON comes in %s gets an answer of ours', async (_, door) => {
    const lines: string[] = []
    const logger = await createLogger({
      level: 'error',
      destination: { write: (line: string) => void lines.push(line) },
    })
    const { endpoint } = await startGateway(
      { preset: 'production', graphql: { ...graphql, uploads: graphql.uploads || undefined }, ...OWN_SCHEMA },
      { logger },
    )
    await fc.assert(
      fc.asyncProperty(operations, maps, async (text, map) => {
        const { headers, body } = door(text, map)
        const answer = await fetch(endpoint, {
          method: 'POST',
          headers: { accept: 'application/graphql-response+json', 'x-graphql-csrf': '1', ...headers },
          body: body ?? null,
        })
        const answered = await answer.text()
        expect(answer.status).toBeOneOf([200, 400, 405, 413, 422])
        expect(answered).not.toMatch(INTERNALS)
        const results = [JSON.parse(answered)].flat() as object[]
        for (const result of results)
          expect(Object.keys(result)).toContain('data' in result ? 'data' : 'errors')
        expect(lines).toEqual([])
      }),
      { numRuns: 100 },
    )
  })
})
