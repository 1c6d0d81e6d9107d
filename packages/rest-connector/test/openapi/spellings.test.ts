import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { importOpenApi } from '../../src/index.ts'

/** A document whose answer is `ref`. */
const documentOf = (ref: string): object => ({
  openapi: '3.1.0',
  info: { title: 't', version: '1' },
  servers: [{ url: 'https://api.example' }],
  paths: {
    '/pet': {
      get: {
        operationId: 'pet',
        responses: { 200: { description: 'ok', content: { 'application/json': { schema: { $ref: ref } } } } },
      },
    },
  },
  components: {
    schemas: {
      'a/b Pet': {
        $id: 'https://schemas.example/pet',
        $anchor: 'pet',
        type: 'object',
        properties: { name: { type: 'string', description: 'wie heißt es?' }, friend: { $ref: '#pet' } },
      },
    },
  },
})

it('a schema is one type, by whichever of its names it is referred to', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'vinyasa-openapi-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'openapi.json')
  const canonical = '#/components/schemas/a~1b%20Pet'
  const expected = await importOpenApi(documentOf(canonical))
  expect(expected.types).toMatchObject({ ABPet: { fields: { friend: { type: 'ABPet' } } } })
  for (const ref of ['#pet', 'https://schemas.example/pet', 'https://schemas.example/pet#']) {
    await writeFile(file, JSON.stringify(documentOf(ref)))
    for (const { types, endpoints, findings } of [
      await importOpenApi(documentOf(ref)),
      await importOpenApi(file),
    ])
      expect({ types, endpoints, findings }).toEqual({
        types: expected.types,
        endpoints: expected.endpoints,
        findings: [],
      })
  }
  const { endpoints, findings } = await importOpenApi(
    documentOf('https://schemas.example/pet#/properties/name'),
  )
  expect([endpoints[0]?.returnType, findings]).toEqual(['String', []])
})

it('text in any form of Unicode, with or without a mark, in JSON and YAML, says the same', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'vinyasa-openapi-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const { types } = await importOpenApi(documentOf('#pet'))
  const json = JSON.stringify(documentOf('#pet'))
  const encodings: Record<string, (text: string) => Buffer> = {
    'utf-8': (text) => Buffer.from(text),
    'utf-8 with a mark': (text) => Buffer.from(`\uFEFF${text}`),
    'utf-16le': (text) => Buffer.from(`\uFEFF${text}`, 'utf16le'),
    'utf-16be': (text) => Buffer.from(`\uFEFF${text}`, 'utf16le').swap16(),
  }
  const file = join(folder, 'openapi.yaml')
  for (const encode of Object.values(encodings))
    for (const text of [json, `# YAML\n${json}`]) {
      await writeFile(file, encode(text))
      expect((await importOpenApi(file)).types).toEqual(types)
    }
})

it('what YAML merges is as if it were written out', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'vinyasa-openapi-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'openapi.yaml')
  const names = fc.uniqueArray(fc.constantFrom('id', 'name', 'size', 'color'), { minLength: 1 })
  const inline = (all: readonly string[]): string =>
    `{ ${all.map((name) => `${name}: { type: string }`).join(', ')} }`
  await fc.assert(
    fc.asyncProperty(names, names, async (merged, own) => {
      const write = async (properties: string) => {
        await writeFile(
          file,
          `openapi: 3.0.3
info: { title: t, version: '1' }
servers: [{ url: 'https://api.example' }]
x-shared: &shared ${inline(merged)}
paths: {}
components: { schemas: {} }
`.replace(
            'paths: {}',
            `paths: { /x: { get: { operationId: x, responses: { 200: { description: ok, content: { application/json: { schema: { type: object, properties: ${properties} } } } } } } } }`,
          ),
        )
        return (await importOpenApi(file)).types
      }
      const types = await write(inline(own).replace('{ ', '{ <<: *shared, '))
      expect(types).toEqual(await write(inline([...new Set([...merged, ...own])])))
    }),
    { numRuns: 30 },
  )
})

describe('YAML that most readers take, and the specification does not', () => {
  const read = async (text: string): Promise<object> => {
    const folder = await mkdtemp(join(tmpdir(), 'vinyasa-openapi-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    await writeFile(join(folder, 'openapi.yaml'), text)
    return { ...(await importOpenApi(join(folder, 'openapi.yaml'))), files: [] }
  }

  /** A value in flow style, whose brackets close `extra()` columns behind the one where their key begins. */
  function flow(value: unknown, extra: () => number, column = 0): string {
    if (typeof value !== 'object' || value === null) return JSON.stringify(value)
    const inner = ' '.repeat(column + 2)
    const members = Object.entries(value).map(([key, member]) => {
      const text = flow(member, extra, column + 2)
      return inner + (Array.isArray(value) ? text : `${JSON.stringify(key)}: ${text}`)
    })
    const [open, close] = Array.isArray(value) ? '[]' : '{}'
    return `${open}\n${members.join(',\n')}\n${' '.repeat(column + extra())}${close}`
  }

  it('a bracket may close where its key begins', async () => {
    const document = documentOf('#pet')
    const expected: object = await importOpenApi(document)
    await fc.assert(
      fc.asyncProperty(fc.infiniteStream(fc.nat(3)), async (columns) => {
        const extra = (): number => columns.next().value as number
        const sections = Object.entries(document).map(([key, value]) => `${key}: ${flow(value, extra)}`)
        expect(await read(sections.join('\n'))).toEqual(expected)
      }),
      { numRuns: 20 },
    )
  })

  it.each([
    ['a tag that nobody knows', 'x-a: !Ref there\nx-b: !Sub { a: 1 }'],
    ['a control character', 'x-a: a\u0007b'],
  ])('%s stands in its own place alone', async (_, line) => {
    const document = documentOf('#pet')
    const sections = Object.entries(document).map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
    expect(await read([line, ...sections].join('\n'))).toEqual(await importOpenApi(document))
  })

  it.each(['a: b: c', '---\nopenapi: 3.0.3\npaths: {}\n---\nb: 1', 'a: *nowhere', 'a: [1'])(
    'what nobody can read is refused with its line: %j',
    async (text) => {
      await expect(read(text)).rejects.toThrow(/cannot be read: .*openapi\.yaml: /)
    },
  )
})
