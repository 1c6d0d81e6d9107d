import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { importOpenApi } from '../../src/index.ts'

/** Lines of YAML whose last name stands for 2 to the power of 40 values. */
function doubled(first: string, next: (before: string) => string): string {
  let text = `x-0: &x0 ${first}\n`
  for (let level = 1; level <= 40; level++) text += `x-${level}: &x${level} ${next(`*x${level - 1}`)}\n`
  return text
}

const LISTS = doubled('[1, 1]', (before) => `[${before}, ${before}]`)
const OBJECTS = doubled(
  '{ type: object, properties: { a: { type: string } } }',
  (before) => `{ type: object, properties: { a: ${before}, b: ${before} } }`,
)
const ALL_OF = doubled(
  '{ type: object, properties: { a: { type: string } } }',
  (before) => `{ allOf: [${before}, ${before}] }`,
)

function openapi(schema: string, extra = ''): string {
  return `openapi: 3.0.3
info: { title: x, version: '1' }
${extra}paths:
  /a: { get: { operationId: a, responses: { 200: { description: ok, content: { application/json: { schema: ${schema} } } } } } }
  /b: { get: { operationId: b, responses: { 200: { description: ok, content: { application/json: { schema: { type: string } } } } } } }
`
}

async function fieldsOf(name: string, text: string): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'vinyasa-aliases-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, name)
  writeFileSync(file, text)
  const { endpoints } = await importOpenApi(file, { baseUrl: 'http://localhost' })
  return endpoints.map((endpoint) => endpoint.name)
}

describe('aliases of YAML', () => {
  it.each([
    ['in an extension, which holds itself', openapi('{ type: string }', 'x-a: &a { b: *a }\n')],
    [
      'an object that holds itself',
      openapi('&s { type: object, properties: { id: { type: string }, me: *s } }'),
    ],
    ['allOf of itself', openapi('&s { allOf: [*s] }')],
    ['oneOf of itself', openapi('&s { oneOf: [*s, { type: string }] }')],
    ['more values than can be visited, in an extension', openapi('{ type: string }', LISTS)],
    [
      'the same as a default',
      openapi('{ type: object, properties: { id: { type: string, default: *x40 } } }', LISTS),
    ],
    ['the same as an enum', openapi('{ type: string, enum: *x40 }', LISTS)],
    ['more objects than can be visited', openapi('*x40', OBJECTS)],
    ['more of allOf than can be visited', openapi('*x40', ALL_OF)],
  ])('%s: costs no other operation', async (_name, text) => {
    expect(await fieldsOf('api.yaml', text)).toContain('b')
  })

  it('a list of itself is no type, and costs no other operation', async () => {
    expect(await fieldsOf('api.yaml', openapi('&s { type: array, items: *s }'))).toEqual(['b'])
  })

  it('of Swagger 2, which hold themselves, cost no operation', async () => {
    const paths = 'paths: { /b: { get: { operationId: b, responses: { 200: { description: ok } } } } }'
    const text = `swagger: '2.0'\ninfo: { title: x, version: '1' }\nx-a: &a { b: *a }\n${paths}\n`
    expect(await fieldsOf('api.yaml', text)).toEqual(['b'])
  })
})

it('JSON that nests deep in an extension costs no operation', async () => {
  const { paths, ...rest } = {
    openapi: '3.0.3',
    info: { title: 'x', version: '1' },
    paths: { '/b': { get: { operationId: 'b', responses: { 200: { description: 'ok' } } } } },
  }
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  const text = `{${JSON.stringify(rest).slice(1, -1)},"paths":${JSON.stringify(paths)},"x-deep":${deep}}`
  expect(await fieldsOf('api.json', text)).toEqual(['b'])
})
