import { readFileSync } from 'node:fs'
import { createGrpcSource, useGrpcSource } from '@vinyasa/grpc-source'
import { createInvalidationBus, type InvalidationBus, type InvalidationEvent } from '@vinyasa/invalidation'
import { createRestConnector, useRestConnector } from '@vinyasa/rest-connector'
import { type OnPlan, type PlanEvent, useSources } from '@vinyasa/source-kit'
import { createDisposables, startGrpcBackend, startRestBackend } from '@vinyasa/test-kit'
import { createSchema, createYoga, type Plugin } from 'graphql-yoga'
import initSqlJs from 'sql.js'
import { afterAll, describe, expect, it } from 'vitest'
import { filmsSource } from './films-source.ts'

// What holds of every source, whatever it stands on: each serves the same films, and joins them onto gRPC's users.

const cleanup = createDisposables(afterAll)

const FILMS = [
  { id: 'a', title: 'Alphaville', ownerId: '1' },
  { id: 'b', title: 'Brazil', ownerId: '2' },
  { id: 'c', title: 'Charade', ownerId: '1' },
]
const USERS = `syntax = "proto3"; package p;
  service Users { rpc ListUsers(Nothing) returns (UserList); }
  message Nothing {} message User { string id = 1; string name = 2; }
  message UserList { repeated User users = 1; }`
const PROTO = `syntax = "proto3"; package f;
  service Films { rpc ListFilms(Nothing) returns (FilmList); rpc OwnedFilms(Ids) returns (FilmList); rpc AddFilm(Film) returns (Film); }
  message Nothing {} message Ids { repeated string ids = 1; }
  message Film { string id = 1; string title = 2; string owner_id = 3; }
  message FilmList { repeated Film films = 1; }`

interface Films {
  readonly plugin: Plugin
  /** What the backend was asked for. */
  readonly asked: readonly string[]
}

type OpenFilms = (bus: InvalidationBus, onPlan: OnPlan) => Promise<Films>

async function openRows(bus: InvalidationBus, onPlan: OnPlan): Promise<Films> {
  const { Database } = await initSqlJs()
  const db = new Database()
  db.run('CREATE TABLE films (id TEXT, title TEXT, ownerId TEXT)')
  for (const film of FILMS) db.run('INSERT INTO films VALUES (?, ?, ?)', Object.values(film))
  const asked: string[] = []
  const [exec, run] = [db.exec.bind(db), db.run.bind(db)]
  db.exec = (sql, values) => (asked.push(sql), exec(sql, values))
  db.run = (sql, values) => (asked.push(sql), run(sql, values))
  return { plugin: useSources({ ...filmsSource(db, bus), onPlan }) as Plugin, asked }
}

async function openGrpc(bus: InvalidationBus, onPlan: OnPlan): Promise<Films> {
  const films = [...FILMS]
  const asked: string[] = []
  const backend = await startGrpcBackend({
    protos: PROTO,
    handlers: {
      'f.Films/ListFilms': () => (asked.push('list'), { films }),
      'f.Films/OwnedFilms': ({ ids }: { ids: string[] }) => {
        asked.push(`owned by ${ids}`)
        return { films: films.filter(({ ownerId }) => ids.includes(ownerId)) }
      },
      'f.Films/AddFilm': (film) => (asked.push('add'), films.push(film), film),
    },
  })
  cleanup.use(backend)
  const source = await createGrpcSource({
    name: 'films',
    endpoint: backend.address,
    protoText: { 'films.proto': PROTO },
    bus,
    onPlan,
    methods: {
      'f.Films.ListFilms': {
        schema: { type: 'QUERY', name: 'films', response: { pluck: 'films', required: true } },
      },
      'f.Films.AddFilm': { schema: { type: 'MUTATION', name: 'addFilm' } },
    },
    joins: [
      {
        type: 'User',
        field: 'films',
        batch: {
          method: 'f.Films.OwnedFilms',
          keys: 'ids',
          items: 'films',
          parentKey: 'id',
          itemKey: 'ownerId',
          many: true,
        },
      },
    ],
  })
  cleanup.use(source)
  return { plugin: useGrpcSource(source) as Plugin, asked }
}

async function openRest(bus: InvalidationBus, onPlan: OnPlan): Promise<Films> {
  const films = [...FILMS]
  const asked: string[] = []
  const backend = await startRestBackend(({ method, rawUrl, url, body }) => {
    asked.push(`${method} ${rawUrl}`)
    const film = method === 'POST' ? JSON.parse(body.toString()) : undefined
    if (film) films.push(film)
    const ids = url.searchParams.getAll('ids')
    return {
      json: film ?? films.filter(({ ownerId }) => url.pathname === '/films' || ids.includes(ownerId)),
    }
  })
  cleanup.use(backend)
  const connector = createRestConnector('films', {
    baseUrl: backend.url,
    bus,
    onPlan,
    endpoints: [
      {
        name: 'films',
        path: '/films',
        returnType: '[Film!]!',
        responseSchema: { typeName: 'Film', fields: { id: 'id!', title: 'string!', ownerId: 'id!' } },
      },
      {
        name: 'owned',
        path: '/owned',
        args: { ids: '[ID!]!' },
        queryParams: { ids: '{ids}' },
        returnType: '[Film!]',
        rootField: false,
        on: { type: 'User', field: 'films', args: { ids: '{id}' }, batch: { key: 'ownerId', many: true } },
      },
      {
        name: 'addFilm',
        path: '/films',
        method: 'POST',
        args: { id: 'ID!', title: 'String!', ownerId: 'ID!' },
        bodyTemplate: '{"id": {id}, "title": {title}, "ownerId": {ownerId}}',
        returnType: 'Film!',
      },
    ],
  })
  cleanup.use(connector)
  return { plugin: useRestConnector(connector) as Plugin, asked }
}

async function openUsers(onPlan: OnPlan) {
  const users = FILMS.slice(0, 2).map(({ ownerId }) => ({ id: ownerId, name: `user ${ownerId}` }))
  const backend = cleanup.use(
    await startGrpcBackend({ protos: USERS, handlers: { 'p.Users/ListUsers': () => ({ users }) } }),
  )
  return cleanup.use(
    await createGrpcSource({
      name: 'users',
      endpoint: backend.address,
      protoText: { 'users.proto': USERS },
      methods: { 'p.Users.ListUsers': { schema: { type: 'QUERY', name: 'users' } } },
      onPlan,
    }),
  )
}

/** Puts a resolver of its own before each field of films, which does to titles what it is told to. */
function wrapping(change: (title: string) => string): Plugin {
  return {
    onSchemaChange({ schema }) {
      const title = (schema.getType('Film') as any)?.getFields().title
      const resolve = title?.resolve
      if (!title || resolve?.isOurs) return
      title.resolve = Object.assign(
        async (...given: unknown[]) => change(resolve ? await resolve(...given) : (given[0] as any).title),
        { isOurs: true },
      )
    },
  }
}

async function serve(open: OpenFilms, ...plugins: Plugin[]) {
  const bus = createInvalidationBus()
  const published: InvalidationEvent[] = []
  bus.subscribe((batch) => void published.push(...batch))
  const events: PlanEvent[] = []
  const onPlan = (event: PlanEvent): void => void events.push(event)
  const films = await open(bus, onPlan)
  const users = useGrpcSource(await openUsers(onPlan)) as Plugin
  const yoga = createYoga({ logging: false, plugins: [films.plugin, users, ...plugins] })
  async function ask(query: string): Promise<unknown> {
    const response = await yoga.fetch('http://yoga/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    })
    return response.json()
  }
  return { ask, asked: films.asked, events, published }
}

const KINDS: Readonly<Record<string, OpenFilms>> = {
  'rows of a file, as in the README of source-kit': openRows,
  'a gRPC service': openGrpc,
  'a REST API': openRest,
}

describe.each(Object.entries(KINDS))('a source that is %s', (_kind, open) => {
  it('has fields, and joins onto objects of another source by one batch, in one plan', async () => {
    const { ask, asked, events } = await serve(open)
    expect(await ask('{ users { users { name films { title } } } films { id } }')).toEqual({
      data: {
        users: {
          users: [
            { name: 'user 1', films: [{ title: 'Alphaville' }, { title: 'Charade' }] },
            { name: 'user 2', films: [{ title: 'Brazil' }] },
          ],
        },
        films: [{ id: 'a' }, { id: 'b' }, { id: 'c' }],
      },
    })
    expect(events.map(({ outcome }) => outcome)).toEqual(['planned'])
    expect(asked).toHaveLength(2)
  })

  it.each([
    '{ films { title } }',
    '{ all: films { of: title ...F } } fragment F on Film { id title @skip(if: true) }',
    '{ users { users { id films { ownerId title } } } }',
  ])('answers as ordinary execution does: %s', async (query) => {
    const [planned, ordinary] = [
      await serve(open),
      await serve(
        open,
        wrapping((title) => title),
      ),
    ]
    expect(await planned.ask(query)).toEqual(await ordinary.ask(query))
    expect(planned.events.map(({ outcome }) => outcome)).not.toContain('unplanned')
    expect(ordinary.events.map(({ outcome }) => outcome)).not.toContain('planned')
  })

  it('is executed ordinarily where somebody wrapped a resolver', async () => {
    const { ask, events } = await serve(
      open,
      wrapping((title) => `${title}!`),
    )
    expect(await ask('{ films { title } }')).toEqual({
      data: { films: FILMS.map(({ title }) => ({ title: `${title}!` })) },
    })
    expect(events.map(({ outcome }) => outcome)).toEqual(['unplanned'])
  })

  it('has announced what a mutation changed when it answers, and shows it', async () => {
    const { ask, published } = await serve(open)
    expect(await ask('mutation { addFilm(id: "d", title: "Diva", ownerId: "2") { title } }')).toEqual({
      data: { addFilm: { title: 'Diva' } },
    })
    expect(published).toEqual([{ entityType: 'Film', operation: 'create', entityId: 'd' }])
    expect(await ask('{ films { title } }')).toMatchObject({ data: { films: { length: 4 } } })
  })

  it('stops the start where the server has a field of that name already', async () => {
    const own = createSchema({ typeDefs: 'type Query { films: String }' })
    const { plugin } = await open(createInvalidationBus(), () => {})
    expect(() => createYoga({ logging: false, schema: own, plugins: [plugin] })).toThrow(/films/)
  })
})

it('the source of rows is the one that the README of source-kit shows', () => {
  const readme = readFileSync(new URL('../../packages/source-kit/README.md', import.meta.url), 'utf8')
  const source = readFileSync(new URL('films-source.ts', import.meta.url), 'utf8')
  expect(readme).toContain(`\`\`\`ts\n${source}\`\`\``)
})
