import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { importOpenApi, type OpenApiImport } from '../../src/index.ts'

const pet = { $ref: '#/components/schemas/Pet' }
const string = { type: 'string' }

/** A document with one of everything that is no schema, so that each of its objects can be a reference. */
const whole = {
  openapi: '3.1.0',
  info: { title: 't', version: '1' },
  servers: [{ url: 'https://api.example' }],
  paths: {
    '/pets/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: string }],
      get: {
        operationId: 'pet',
        parameters: [{ name: 'filter', in: 'query', content: { 'application/json': { schema: pet } } }],
        security: [{ key: [] }],
        responses: {
          200: {
            description: 'ok',
            headers: { 'X-Rate': { schema: { type: 'integer' } } },
            content: { 'application/json': { schema: pet } },
            links: { again: { operationId: 'pet', parameters: { id: '$response.body#/name' } } },
          },
        },
      },
      patch: {
        operationId: 'changePet',
        requestBody: {
          required: true,
          content: {
            'application/x-www-form-urlencoded': { schema: pet, encoding: { tags: { explode: false } } },
          },
        },
        responses: { 200: { description: 'ok', content: { 'application/json': { schema: pet } } } },
      },
    },
  },
  components: {
    securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } },
    schemas: { Pet: { type: 'object', properties: { name: string, friend: pet } } },
  },
}

type Path = readonly string[]

/** All objects of it in which the specification has one that is no schema; those around others come later. */
function placesOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null || '$ref' in value) return []
  const [key = ''] = path.slice(-1)
  const isSchema = key === 'schema' || path.slice(-2, -1)[0] === 'schemas'
  const isOther = path.includes('security') || ['info', 'servers'].includes(path[0] ?? '')
  if (isSchema || isOther) return []
  const inner = Object.entries(value).flatMap(([step, member]) => placesOf(member, [...path, step]))
  // What a link gives is values, and lists are those of the object around.
  const isMovable =
    path.length > 0 && !Array.isArray(value) && path.at(-3) !== 'links' && path.at(-2) !== 'links'
  return isMovable ? [...inner, path] : inner
}

const places = placesOf(whole)

/** The document with the objects at these places behind references that `refTo` gives. */
function moved(chosen: readonly Path[], refTo: (value: object, name: string) => string): object {
  const document = structuredClone(whole) as Record<string, any>
  for (const [index, path] of chosen.entries()) {
    const owner = path.slice(0, -1).reduce((node, step) => node[step], document)
    const key = path.at(-1) as string
    owner[key] = { $ref: refTo(owner[key], `moved${index}`) }
  }
  return document
}

const withoutFiles = (imported: OpenApiImport): object => ({ ...imported, files: [], interceptors: [] })
const options = { env: {}, headers: true, links: true } as const

describe('a reference in place of any object of a document', () => {
  it('says the same as the object, in one file and in many', async () => {
    const expected = withoutFiles(await importOpenApi(whole, options))
    const folder = await mkdtemp(join(tmpdir(), 'vinyasa-references-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    await fc.assert(
      fc.asyncProperty(fc.subarray(places), async (chosen) => {
        const shelf: Record<string, object> = {}
        const inOne = moved(chosen, (value, name) => {
          shelf[name] = value
          return `#/x-shelf/${name}`
        })
        expect(withoutFiles(await importOpenApi({ ...inOne, 'x-shelf': shelf }, options))).toEqual(expected)

        const files = new Map<string, object>()
        const root = moved(chosen, (value, name) => {
          files.set(`${name}.json`, value)
          return `./${name}.json`
        })
        const text = (value: object): string =>
          // From a file, references to the document's own parts name it.
          JSON.stringify(value).replaceAll('"#/components/', '"openapi.json#/components/')
        for (const [name, value] of files) await writeFile(join(folder, name), text(value))
        await writeFile(join(folder, 'openapi.json'), JSON.stringify(root))
        expect(withoutFiles(await importOpenApi(join(folder, 'openapi.json'), options))).toEqual(expected)
      }),
      { numRuns: 60, examples: places.map((path) => [[path]]) },
    )
  })

  it('to nowhere costs what it stands for, and is told', async () => {
    for (const path of places) {
      const { findings } = await importOpenApi(
        moved([path], () => '#/nowhere'),
        options,
      )
      expect([path, findings.map(({ message }) => message).join()]).toEqual([
        path,
        expect.stringMatching(/cannot be resolved|does not define this security scheme/),
      ])
    }
  })
})

describe('paths', () => {
  const responses = { 204: { description: 'none' } }
  const read = (paths: object, components: object = {}): Promise<OpenApiImport> =>
    importOpenApi({ openapi: '3.2.0', info: { title: 't', version: '1' }, paths, components })

  it.each([
    ['without a slash', { 'pets/{id}': { get: { responses } } }, ['GET /pets/{id}']],
    ['of an operation that says nothing', { '/ping': { get: {} } }, ['GET /ping']],
    [
      'with operations beside a reference',
      { '/a': { $ref: '#/components/pathItems/a', post: { responses } } },
      ['GET /a', 'POST /a'],
    ],
  ])('%s are served', async (_, paths, expected) => {
    const { endpoints, findings } = await read(paths, { pathItems: { a: { get: { responses } } } })
    expect([endpoints.map(({ method, path }) => `${method} ${path}`), findings]).toEqual([expected, []])
  })

  it('parameters beside a reference are those of its operations', async () => {
    const parameters = [{ name: 'q', in: 'query', schema: string }]
    const { endpoints } = await read(
      { '/a': { $ref: '#/components/pathItems/a', parameters } },
      { pathItems: { a: { get: { responses } } } },
    )
    expect(endpoints[0]?.args).toEqual({ q: { type: 'String' } })
  })

  it.each([
    ['HEAD', { head: { responses } }, '#/paths/~1a/head'],
    ['QUERY', { query: { responses } }, '#/paths/~1a/query'],
    ['COPY', { additionalOperations: { COPY: { responses } } }, '#/paths/~1a/additionalOperations/COPY'],
  ])('%s is left out and told', async (method, item, place) => {
    const { endpoints, findings } = await read({ '/a': { get: { responses }, ...item } })
    expect(endpoints).toHaveLength(1)
    expect(findings).toMatchObject([{ place, message: expect.stringContaining(`${method} /a is skipped`) }])
  })

  it.each([
    ['it has none', {}, {}],
    ['it has webhooks alone', {}, { webhooks: { pinged: { post: { responses } } } }],
    ['none is selected', { '/a': { get: { tags: ['b'], responses } } }, {}],
  ])('are told to be no fields where %s', async (_, paths, more) => {
    const { findings } = await importOpenApi(
      { openapi: '3.1.0', info: { title: 't', version: '1' }, paths, ...more },
      { tags: ['a'] },
    )
    expect(findings.map(({ place }) => place)).toEqual([
      ...Object.keys('webhooks' in more ? more.webhooks : {}).map((key) => `#/webhooks/${key}`),
      '#/paths',
    ])
  })
})
