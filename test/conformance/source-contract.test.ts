import { readFileSync } from 'node:fs'
import { status } from '@grpc/grpc-js'
import { createGrpcSource, useGrpcSource } from '@vinyasa/grpc-source'
import { createInvalidationBus, type InvalidationBus, type InvalidationEvent } from '@vinyasa/invalidation'
import { createRestConnector, useRestConnector } from '@vinyasa/rest-connector'
import { type PlanEvent, useSources } from '@vinyasa/source-kit'
import { createDisposables, startGrpcBackend, startRestBackend } from '@vinyasa/test-kit'
import { defaultFieldResolver } from 'graphql'
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
  service Films { rpc ListFilms(Nothing) returns (FilmList); rpc OwnedFilms(Ids) returns (FilmList); rpc OneFilm(Id) returns (Film); rpc AddFilm(Film) returns (Film); }
  message Nothing {} message Id { string id = 1; } message Ids { repeated string ids = 1; }
  message Film { string id = 1; string title = 2; string owner_id = 3; }
  message FilmList { repeated Film films = 1; }`

interface Films {
  readonly plugin: Plugin
  /** What the backend was asked for. */
  readonly asked: readonly string[]
}

type OnPlan = (event: PlanEvent) => void

type OpenFilms = (bus: InvalidationBus, onPlan: OnPlan) => Promise<Films>

async function openRows(bus: InvalidationBus, onPlan: OnPlan): Promise<Films> {
  const { Database } = await initSqlJs()
  const db = new Database()
  db.run('CREATE TABLE films (id TEXT, title TEXT, ownerId TEXT)')
  for (const film of FILMS) db.run('INSERT INTO films VALUES (?, ?, ?)', Object.values(film))
  const asked: string[] = []
  const [exec, run] = [db.exec.bind(db), db.run.bind(db)]
  db.exec = (sql, values) => (asked.push(`${sql} ${values}`), exec(sql, values))
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
      'f.Films/OneFilm': ({ id }: { id: string }) => {
        asked.push(`one of ${id}`)
        const film = films.find(({ ownerId }) => ownerId === id)
        if (!film) throw Object.assign(new Error('no film'), { code: status.NOT_FOUND })
        return film
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
      {
        type: 'User',
        field: 'firstFilm',
        batch: {
          method: 'f.Films.OwnedFilms',
          keys: 'ids',
          items: 'films',
          parentKey: 'id',
          itemKey: 'ownerId',
        },
      },
      { type: 'User', field: 'oneFilm', method: 'f.Films.OneFilm', request: { id: 'id' } },
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
    if (url.pathname.startsWith('/one/')) {
      const found = films.find(({ ownerId }) => url.pathname === `/one/${ownerId}`)
      return found ? { json: found } : { status: 404 }
    }
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
        name: 'first',
        path: '/owned',
        args: { ids: '[ID!]!' },
        queryParams: { ids: '{ids}' },
        returnType: '[Film!]',
        rootField: false,
        on: { type: 'User', field: 'firstFilm', args: { ids: '{id}' }, batch: { key: 'ownerId' } },
      },
      {
        name: 'one',
        path: '/one/{id}',
        returnType: 'Film',
        rootField: false,
        on: { type: 'User', field: 'oneFilm', args: { id: '{id}' } },
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

async function openUsers(onPlan: OnPlan, ids: readonly string[]) {
  const users = ids.map((id) => ({ id, name: `user ${id}` }))
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

/** Puts a resolver of its own before a field, which does to its values what it is told to. */
function wrapping(change: (value: string) => string, type = 'Film', name = 'title'): Plugin {
  return {
    onSchemaChange({ schema }) {
      const field = (schema.getType(type) as any)?.getFields()[name]
      const resolve = field?.resolve
      if (!field || resolve?.isOurs) return
      field.resolve = Object.assign(
        async (...given: unknown[]) => change(resolve ? await resolve(...given) : (given[0] as any)[name]),
        { isOurs: true },
      )
    },
  }
}

function serve(open: OpenFilms, ...plugins: Plugin[]) {
  return serveFor(['1', '2'], open, ...plugins)
}

async function serveFor(users: readonly string[], open: OpenFilms, ...plugins: Plugin[]) {
  const bus = createInvalidationBus()
  const published: InvalidationEvent[] = []
  bus.subscribe((batch) => void published.push(...batch))
  const events: PlanEvent[] = []
  const onPlan = (event: PlanEvent): void => void events.push(event)
  const films = await open(bus, onPlan)
  const ofUsers = useGrpcSource(await openUsers(onPlan, users)) as Plugin
  const yoga = createYoga({ logging: false, plugins: [films.plugin, ofUsers, ...plugins] })
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

const WAYS: Readonly<Record<string, { readonly plugins: readonly Plugin[]; readonly outcome: string }>> = {
  'by a plan': { plugins: [], outcome: 'planned' },
  'by resolvers': { plugins: [wrapping((title) => title)], outcome: 'unplanned' },
}

const { 'rows of a file, as in the README of source-kit': _rows, ...CALLED } = KINDS

describe.each(Object.entries(WAYS))('joins %s', (_way, { plugins, outcome }) => {
  it.each(Object.entries(KINDS))(
    'of %s ask once for a key, and never for an empty one',
    async (_kind, open) => {
      const { ask, asked, events } = await serveFor(['1', '', '9', '1'], open, ...plugins)
      const [both, none] = [{ films: [{ title: 'Alphaville' }, { title: 'Charade' }] }, { films: [] }]
      expect(await ask('{ users { users { films { title } } } }')).toEqual({
        data: { users: { users: [both, none, none, both] } },
      })
      expect(asked).toEqual([expect.stringMatching(/[^1]1(,|&ids=)9$/)])
      expect(events.map((event) => event.outcome)).toEqual([outcome])
    },
  )

  it.each(Object.entries(KINDS))('of %s read a key that graphql itself resolves', async (_kind, open) => {
    const byName: Plugin = {
      onSchemaChange({ schema }) {
        const id = (schema.getType('User') as any)?.getFields().id
        if (id) id.resolve = defaultFieldResolver
      },
    }
    const { ask } = await serveFor(['2'], open, byName, ...plugins)
    expect(await ask('{ users { users { films { title } } } }')).toEqual({
      data: { users: { users: [{ films: [{ title: 'Brazil' }] }] } },
    })
  })

  it.each(Object.entries(KINDS))('of %s read the key as a client sees it', async (_kind, open) => {
    const seen = wrapping((id) => id.slice(1), 'User', 'id')
    const { ask, asked } = await serveFor(['u1', 'u2'], open, seen, ...plugins)
    expect(await ask('{ users { users { films { id } } } }')).toEqual({
      data: { users: { users: [{ films: [{ id: 'a' }, { id: 'c' }] }, { films: [{ id: 'b' }] }] } },
    })
    expect(asked).toHaveLength(1)
  })

  it.each(Object.entries(CALLED))('of %s take the first of several items, or null', async (_kind, open) => {
    const { ask, asked, events } = await serveFor(['1', '', '9'], open, ...plugins)
    expect(await ask('{ users { users { firstFilm { title } } } }')).toEqual({
      data: { users: { users: [{ firstFilm: { title: 'Alphaville' } }, ...nulls('firstFilm')] } },
    })
    expect(asked).toHaveLength(1)
    expect(events.map((event) => event.outcome)).toEqual([outcome])
  })

  it.each(Object.entries(CALLED))(
    'of %s with a call each are null where there is nothing',
    async (_kind, open) => {
      const { ask, asked } = await serveFor(['1', '', '9'], open, ...plugins)
      expect(await ask('{ users { users { oneFilm { title } } } }')).toEqual({
        data: { users: { users: [{ oneFilm: { title: 'Alphaville' } }, ...nulls('oneFilm')] } },
      })
      expect(asked).toHaveLength(2)
    },
  )
})

function nulls(field: string): object[] {
  return [{ [field]: null }, { [field]: null }]
}

it('the source of rows is the one that the README of source-kit shows', () => {
  const readme = readFileSync(new URL('../../packages/source-kit/README.md', import.meta.url), 'utf8')
  const source = readFileSync(new URL('films-source.ts', import.meta.url), 'utf8')
  expect(readme).toContain(`\`\`\`ts\n${source}\`\`\``)
})
