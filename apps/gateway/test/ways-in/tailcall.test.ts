import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startGrpcBackend, startRestBackend, type RestHandler } from '@vinyasa/test-kit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { emptyFolder, type Folder } from '../support/folder.ts'
import { post } from '../support/gateway.ts'

const STOCK = /* proto */ `
  syntax = "proto3";
  package library;
  message StockId { string id = 1; }
  message StockIds { repeated StockId ids = 1; }
  message Stock { string id = 1; int32 copies = 2; string branch = 3; }
  message Stocks { repeated Stock stocks = 1; }
  message Count { string id = 1; int32 count = 2; }
  service StockService {
    rpc GetStock(StockId) returns (Stock);
    rpc GetStocks(StockIds) returns (Stocks);
    rpc Recount(Count) returns (Stock);
  }
`

const BOOKS = [
  {
    id: 'b1',
    title: 'Ends',
    pageCount: 210,
    isbn: '1',
    genre: 'NOVEL',
    price: 9.5,
    authorId: 1,
    place: { room: 'A', shelf: '3' },
    tags: ['new'],
  },
  {
    id: 'b2',
    title: 'Means',
    pageCount: 90,
    isbn: null,
    genre: 'SCIENCE',
    price: 12,
    authorId: 2,
    place: null,
    tags: [],
  },
]
const AUTHORS = [
  { id: 1, name: 'Ida', bornAt: '1960-01-02' },
  { id: 2, name: 'Max', bornAt: '1971-03-04' },
]

const answer: RestHandler = ({ method, url, headers, json }) => {
  const [, kind = '', id = '', more = ''] = url.pathname.split('/')
  const book = BOOKS.find((one) => one.id === id)
  if (kind === 'books' && method === 'PATCH') return { json: { ...book, ...json() } }
  if (kind === 'books')
    return { json: more === 'similar' ? BOOKS.slice(0, Number(url.searchParams.get('n'))) : (book ?? BOOKS) }
  if (kind === 'authors' && more === 'books')
    return { json: BOOKS.filter((one) => one.authorId === Number(id)) }
  if (kind === 'authors' && id !== '') return { json: AUTHORS.find((one) => one.id === Number(id)) }
  if (kind === 'authors')
    return { json: AUTHORS.filter((one) => url.searchParams.getAll('id').includes(String(one.id))) }
  if (kind === 'reviews')
    return {
      json: url.searchParams
        .getAll('book')
        .map((bookId, index) => ({ id: `r${index}`, bookId, stars: 4, body: 'Good.' })),
    }
  if (kind === 'reports') return { json: { data: { books: BOOKS } } }
  if (kind === 'search') return { json: [BOOKS[0], AUTHORS[1]] }
  if (kind === 'recommendation')
    return { json: { ...BOOKS[0], title: `${String(headers['x-mood'])} ${String(headers['x-key'])}` } }
  if (kind === 'branches') return { json: [{ id: 1, name: 'North', settings: { open: [9, 17] } }] }
  if (kind === 'loans' && method === 'POST')
    return { json: { id: 'l1', ...json(), due: '2030-01-01T00:00:00Z' } }
  return { json: true }
}

async function moved(): Promise<{ folder: Folder; requests: () => string[]; calls: () => number }> {
  const [rest, grpc] = [
    await startRestBackend(answer),
    await startGrpcBackend({
      protos: STOCK,
      handlers: {
        'library.StockService/GetStock': async ({ id }) => ({ id, copies: 3, branch: 'North' }),
        'library.StockService/GetStocks': async ({ ids }) => ({
          stocks: ids.map(({ id }: { id: string }) => ({ id, copies: 1, branch: 'South' })),
        }),
        'library.StockService/Recount': async ({ id, count }) => ({ id, copies: count, branch: 'North' }),
      },
    }),
  ]
  for (const one of [rest, grpc]) onTestFinished(() => one.stop())
  const folder = await emptyFolder()
  Object.assign(folder.environment, { LIBRARY_KEY: 'k1' })
  const old = await readFile(new URL('old/library.graphql', import.meta.url), 'utf8')
  const here = old
    .replaceAll('localhost:3100', `localhost:${rest.port}`)
    .replaceAll('localhost:50060', `localhost:${grpc.port}`)
  await writeFile(join(folder.directory, 'library.graphql'), here)
  await writeFile(join(folder.directory, 'stock.proto'), STOCK)
  expect([await folder.command('init', '--from', 'library.graphql'), folder.err]).toEqual([0, []])
  return {
    folder,
    requests: () => rest.requests.map(({ method, rawUrl }) => `${method} ${rawUrl}`),
    calls: () => grpc.calls.length,
  }
}

/** The operations of the library's clients, as they were. */
const OPERATIONS = {
  list: '{ books(shelf: "A3") { id title pages genre price room tags place { shelf } author { id name bornAt } reviews { stars body } } }',
  one: '{ book(id: "b1") { title similar(first: 1) { id } available { copies branch } } }',
  stocks: '{ books { id available { copies } } }',
  author: '{ author(id: 2) { name books { title author { name } } } }',
  popular: '{ popular { title isbn } }',
  search:
    '{ search(filter: { text: "e", genres: [NOVEL], range: { from: 1 } }) { __typename ... on Book { title } ... on Author { name } } }',
  recommendation: '{ recommendation(mood: "calm") { title } }',
  stock: '{ stock(id: "b1") { id copies branch } }',
  branches: '{ branches { id name settings } }',
  lend: 'mutation { lend(loan: { bookId: "b1", member: "Eve" }) { id member due book { title } } }',
  rename: 'mutation { rename(id: "b2", title: "Ways \\"in\\"") { id title } }',
  giveBack: 'mutation { giveBack(id: "l1") }',
  recount: 'mutation { recount(id: "b1", count: 7) { copies } }',
  motto: '{ motto }',
  discount: '{ books { discount } }',
}

describe('init --from a configuration of Tailcall', () => {
  it('writes a config that serves the operations of its clients, and says line by line what it cannot', async () => {
    const { folder, requests, calls } = await moved()
    expect(folder.out.filter((line) => /^(skipped|clients|breaking|dangerous|wrong)/.test(line)))
      .toMatchInlineSnapshot(`
        [
          "skipped  library.graphql:3: @server(workers:): start the gateway with --workers 4",
          "skipped  library.graphql:3: @server(globalResponseTimeout:) cannot be converted; look for a similar setting of server or graphql",
          "skipped  library.graphql:3: @server(headers.custom:) has no equivalent; write a plugin if you need it",
          "skipped  library.graphql:22: @link(type: Operation): register documents in persistedDocuments",
          "skipped  library.graphql:49: Query.branches: @cache: set responseCache; this gateway caches complete responses, and mutations evict them",
          "skipped  library.graphql:50: Query.motto: @expr: write a resolver in a TypeScript config",
          "skipped  library.graphql:95: Book.discount: @js: write a resolver in a TypeScript config",
          "clients  2 breaking, 0 dangerous",
          "breaking Field 'discount' was removed from object type 'Book'",
          "breaking Field 'motto' was removed from object type 'Query'",
        ]
      `)
    const config = await readFile(join(folder.directory, 'gateway.config.yaml'), 'utf8')
    await expect(
      config.replaceAll(/localhost:\d+/g, 'localhost:1').replaceAll(/library_\d+/g, 'library_1'),
    ).toMatchFileSnapshot('written/library.config.yaml.snap')
    expect(await folder.command('check', '--against', 'library.graphql')).toBe(1)
    expect(folder.err).toEqual([
      'vinyasa: --against library.graphql: 2 breaking changes; apply the listed settings, if any, or tell the owners of the clients about the changes',
    ])
    const endpoint = await folder.start()
    const answers: Record<string, any> = {}
    for (const [name, query] of Object.entries(OPERATIONS))
      answers[name] = await (await post(endpoint, { query })).json()
    await expect(JSON.stringify(answers, null, 2)).toMatchFileSnapshot('written/library.answers.json.snap')
    // Those whose fields were named above.
    expect(Object.keys(answers).filter((name) => answers[name].errors)).toEqual(['motto', 'discount'])
    // The two joins of an operation are requested in any order.
    expect([calls(), requests().toSorted()]).toMatchInlineSnapshot(`
      [
        4,
        [
          "DELETE /loans/l1",
          "GET /authors/2/books",
          "GET /authors/2?tenant=north",
          "GET /authors?id=1&id=2",
          "GET /authors?id=2",
          "GET /books/b1",
          "GET /books/b1",
          "GET /books/b1/similar?n=1",
          "GET /books?limit=20",
          "GET /books?shelf=A3&limit=20",
          "GET /branches",
          "GET /recommendation",
          "GET /reports/popular",
          "GET /reviews?book=b1&book=b2",
          "HEAD /",
          "PATCH /books/b2",
          "POST /loans",
          "POST /search",
        ],
      ]
    `)
  }, 120_000)
})

it('names a union whose types nothing tells apart, and does not start with it', async () => {
  const rest = await startRestBackend(() => ({ json: [] }))
  onTestFinished(() => rest.stop())
  const folder = await emptyFolder()
  const old = `schema @server(port: 8000) @upstream(baseURL: "${rest.url}") { query: Query }
type Query { found: [Found] @http(path: "/found") }
union Found = Book | Film
type Book { id: ID! isbn: String }
type Film { id: ID! minutes: Int }
`
  await writeFile(join(folder.directory, 'old.graphql'), old)
  await folder.command('init', '--from', 'old.graphql')
  expect(folder.out.filter((line) => /^(skipped|wrong)/.test(line))).toEqual([
    expect.stringMatching(
      /^wrong    rest\.old_\d+: .*the members Book and Film of Found cannot be distinguished/,
    ),
  ])
  expect(await folder.command('check')).toBe(1)
  expect(folder.err.join('\n')).toContain('the members Book and Film of Found cannot be distinguished')
  const path = join(folder.directory, 'gateway.config.yaml')
  const config = await readFile(path, 'utf8')
  await writeFile(path, config.replace(/(Film:\n\s+required:\n)(\s+)- id\n/, '$1$2- minutes\n'))
  folder.err.length = 0
  expect([await folder.command('check'), folder.err]).toEqual([0, []])
}, 60_000)
