import { readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createDisposables, startRestBackend, type RecordedRequest } from '@vinyasa/test-kit'
import { printSchema, validateSchema } from 'graphql'
import { createYoga } from 'graphql-yoga'
import { afterAll, describe, expect, it } from 'vitest'
import { createRestConnector, importOpenApi, useRestConnector } from '../../../src/index.ts'
import { differing, leavesOf, normalized } from './differences.ts'
import { generators, type Generator } from './generators.ts'

// One API as each generator describes it, in documents that two of them wrote and that the others would write.

const cleanup = createDisposables()
afterAll(() => cleanup.dispose())

const FOLDER = fileURLToPath(new URL('documents/', import.meta.url))
const library = readFileSync(new URL('library.graphql', import.meta.url), 'utf8')

/** More digits than a double has. */
const ID = '9007199254740993'
const book = `{"kind":"book","id":${ID},"title":"Dune","subtitle":null,"format":"e-book","tags":["sf"],"labels":{"shelf":"A1"},
  "maker":{"name":"Herbert","born":null},"published":"1965-08-01","added":"2026-01-31T12:00:00Z","price":9.5,"pages":412,"size":{"width":1.5,"height":2}}`
const film = '{"kind":"film","id":2,"title":"Alien","minutes":117}'

/** The two items as the schema gives them; where that says nothing of them, as they came. */
function itemsOf({ name, members = ['Book', 'Film'] }: Generator, isKindText: boolean): readonly unknown[] {
  const came = [book, film].map((text) => JSON.parse(text) as Record<string, unknown>)
  if (members === null) return came.map((item, index) => (index === 0 ? { ...item, id: ID } : item))
  const [{ kind, ...first }, { kind: filmKind, ...second }] = came as [Item, Item]
  const kindOf = (text: string): string => (isKindText ? text : text.toUpperCase())
  const number = (value: unknown): unknown => (name === 'fastapi' ? String(value) : value)
  const labels = [{ key: 'shelf', value: 'A1' }]
  const own = { id: ID, format: 'E_BOOK', labels, pages: number(412), kind: kindOf(kind) }
  return [
    { ...first, ...own, __typename: members[0] },
    { ...second, id: '2', minutes: number(117), filmKind: kindOf(filmKind), __typename: members[1] },
  ]
}

type Item = Readonly<Record<string, unknown>> & { readonly kind: string }

function importOf({ name, fields, slash }: Generator, rename = true) {
  const [list, add, get, remove, cover] = ['listItems', 'addBook', 'getItem', 'removeItem', 'putCover']
  const operations = {
    [`GET /items${slash ?? ''}`]: list,
    [`POST /items${slash ?? ''}`]: add,
    [`GET /items/{id}${slash ?? ''}`]: get,
    [`DELETE /items/{id}${slash ?? ''}`]: remove,
    [`PUT /items/{id}/cover${slash ?? ''}`]: cover,
  } as Record<string, string>
  expect(fields).toHaveLength(Object.keys(operations).length)
  return importOpenApi(`${FOLDER}${name}.yaml`, { env: {}, ...(rename && { rename: operations }) })
}

async function serve(generator: Generator) {
  const { items, total } = generator.page ?? { items: 'items', total: 'total' }
  const answers: Readonly<Record<string, string>> = {
    'GET /items': `{"${items}":[${book},${film}],"${total}":2,"next":null}`,
    'POST /items': book,
    [`GET /items/${ID}`]: book,
    'GET /items/2': film,
    [`PUT /items/${ID}/cover`]: `{"url":"https://a.example/1","bytes":${ID}}`,
  }
  const backend = cleanup.use(
    await startRestBackend(({ method, url }) => {
      const path = url.pathname.slice(0, url.pathname.endsWith('/') ? -1 : undefined)
      const body = answers[`${method} ${path}`]
      if (method === 'DELETE') return { status: 204 }
      if (body === undefined) return { status: 404, json: { title: 'Not found', status: 404 } }
      return { status: method === 'POST' ? 201 : 200, headers: { 'content-type': 'application/json' }, body }
    }),
  )
  const imported = await importOf(generator)
  const connector = cleanup.use(createRestConnector('library', { ...imported, baseUrl: backend.url }))
  const yoga = createYoga({ plugins: [useRestConnector(connector)], logging: false, maskedErrors: false })
  const post = async (body: string | FormData): Promise<any> => {
    const headers = typeof body === 'string' ? { 'content-type': 'application/json' } : {}
    return (await yoga.fetch('http://yoga/graphql', { method: 'POST', headers, body })).json()
  }
  return {
    schema: connector.schema,
    backend,
    post,
    ask: (query: string, variables: object = {}) => post(JSON.stringify({ query, variables })),
    last: () => backend.requests.at(-1) as RecordedRequest,
  }
}

it('every document has its row, and every row its document', () => {
  expect(readdirSync(FOLDER).toSorted()).toEqual(generators.map(({ name }) => `${name}.yaml`).toSorted())
})

describe.each(generators)('$name', (generator) => {
  const { slash = '', members = ['Book', 'Film'], page = { items: 'items', total: 'total' } } = generator

  it('gives the schema of the library, but for what it says otherwise', async () => {
    const imported = await importOf(generator)
    const { schema } = cleanup.use(createRestConnector('l', { ...imported, baseUrl: 'http://127.0.0.1:1' }))
    expect(validateSchema(schema)).toEqual([])
    const wanted = differing(library, generator.differences)
    expect(normalized(printSchema(schema))).toBe(normalized(wanted))
    // A server that is relative to nowhere is none of the types.
    expect(imported.findings.filter(({ place }) => place !== '#/servers')).toEqual([])
  })

  it('names its operations', async () => {
    const { endpoints } = await importOf(generator, false)
    expect(endpoints.map(({ name }) => name).toSorted()).toEqual(generator.fields.toSorted())
  })

  it('reads a page, each item as what it is', async () => {
    const { ask, schema, last } = await serve(generator)
    const others = ['labels', 'maker', 'size', 'kind', 'schema']
    const selection = (members ?? [])
      .map((name, index) => {
        // One name in an answer has one type, and each member has an enum of its own kind.
        const inner =
          index === 0
            ? 'kind labels { key value } maker { name born } size { width height }'
            : 'filmKind: kind'
        return `... on ${name} { ${leavesOf(schema, name, others)} ${inner} }`
      })
      .join(' ')
    const items = members === null ? '' : `{ __typename ${selection} }`
    const { data, errors } = await ask(
      `{ listItems(page: 2, format: E_BOOK, since: "2020-01-01") { ${page.items} ${items} ${page.total} next } }`,
    )
    expect(errors).toBeUndefined()
    const query = [...last().url.searchParams].toSorted(([a], [b]) => (a < b ? -1 : 1))
    expect([last().url.pathname, query]).toEqual([
      `/items${slash}`,
      [
        ['format', 'e-book'],
        ['page', '2'],
        ['since', '2020-01-01'],
      ],
    ])
    const { [page.items]: found, [page.total]: total, next } = data.listItems
    expect([String(total), next]).toEqual(['2', null])
    expect(found).toEqual(itemsOf(generator, schema.getType('ItemBase') !== undefined))
  })

  it('reads one by its number, and an error where there is none', async () => {
    const { ask, last } = await serve(generator)
    const fields = members === null ? '' : '{ __typename id title }'
    const { data } = await ask(`{ book: getItem(id: "${ID}") ${fields} film: getItem(id: 2) ${fields} }`)
    expect([String(data.book.id), data.film.title]).toEqual([ID, 'Alien'])
    expect([data.book.__typename, data.film.__typename]).toEqual(members ?? [undefined, undefined])
    expect((await ask(`{ getItem(id: 3) ${fields} }`)).errors[0].extensions.code).toBe('NOT_FOUND')
    expect(last().url.pathname).toBe(`/items/3${slash}`)
  })

  it('sends what is given, and null where it is null', async () => {
    const { ask, last } = await serve(generator)
    const input = `{ title: "Dune", subtitle: null, format: E_BOOK, tags: ["sf"], labels: [{ key: "a-b", value: "c" }],
      maker: { name: "Herbert" }, published: "1965-08-01", pages: 412 }`
    const { data, errors } = await ask(`mutation { addBook(input: ${input}) { title format } }`)
    expect([data, errors]).toEqual([{ addBook: { title: 'Dune', format: 'E_BOOK' } }, undefined])
    expect(last().headers['content-type']).toMatch(/^application\/json/)
    expect(last().json()).toEqual({
      title: 'Dune',
      subtitle: null,
      format: 'e-book',
      tags: ['sf'],
      labels: { 'a-b': 'c' },
      maker: { name: 'Herbert' },
      published: '1965-08-01',
      pages: 412,
    })
    expect(await ask(`mutation { removeItem(id: "${ID}") }`)).toEqual({ data: { removeItem: true } })
    expect([last().method, last().url.pathname]).toEqual(['DELETE', `/items/${ID}${slash}`])
  })

  it('sends a file as a part, with its name and its type', async () => {
    const { post, schema, last } = await serve(generator)
    const { putCover } = schema.getMutationType()?.getFields() ?? {}
    const type = putCover?.args.find(({ name }) => name === 'input')
    const body = new FormData()
    const query = `mutation ($input: ${type?.type}) { putCover(id: "${ID}", input: $input) { url bytes } }`
    body.set('operations', JSON.stringify({ query, variables: { input: { file: null, caption: 'Front' } } }))
    body.set('map', JSON.stringify({ 0: ['variables.input.file'] }))
    body.set('0', new File([new Uint8Array([0, 255, 10])], 'cover.png', { type: 'image/png' }))
    expect(await post(body)).toEqual({ data: { putCover: { url: 'https://a.example/1', bytes: ID } } })
    const { headers, body: sent } = last()
    const form = await new Response(new Uint8Array(sent), {
      headers: { 'content-type': headers['content-type'] as string },
    }).formData()
    const file = form.get('file') as File
    expect([...form.keys()].toSorted()).toEqual(['caption', 'file'])
    expect([form.get('caption'), file.name]).toEqual(['Front', 'cover.png'])
    expect([...new Uint8Array(await file.arrayBuffer())]).toEqual([0, 255, 10])
  })
})
