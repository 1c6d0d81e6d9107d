import { readFileSync } from 'node:fs'
import { createGrpcSource, useGrpcSource } from '@vinyasa/grpc-source'
import { createInvalidationBus, type InvalidationEvent } from '@vinyasa/invalidation'
import { useSources, type PlanEvent } from '@vinyasa/source-kit'
import { createDisposables, startGrpcBackend } from '@vinyasa/test-kit'
import { createYoga, type Plugin } from 'graphql-yoga'
import initSqlJs from 'sql.js'
import { afterAll, describe, expect, it } from 'vitest'
import { filmsSource } from './films-source.ts'

const cleanup = createDisposables(afterAll)

async function serve(wrap = false) {
  const grpc = cleanup.use(
    await startGrpcBackend({
      protos: `syntax = "proto3"; package p;
        service Users { rpc ListUsers(Nothing) returns (UserList); }
        message Nothing {} message User { string id = 1; string name = 2; }
        message UserList { repeated User users = 1; }`,
      handlers: {
        'p.Users/ListUsers': () => ({
          users: [
            { id: '1', name: 'Ada' },
            { id: '2', name: 'Bo' },
          ],
        }),
      },
    }),
  )
  const users = cleanup.use(
    await createGrpcSource({
      name: 'users',
      endpoint: grpc.address,
      protoText: {
        'users.proto': `syntax = "proto3"; package p;
        service Users { rpc ListUsers(Nothing) returns (UserList); }
        message Nothing {} message User { string id = 1; string name = 2; }
        message UserList { repeated User users = 1; }`,
      },
      methods: { 'p.Users.ListUsers': { schema: { type: 'QUERY', name: 'users' } } },
      onPlan: (event) => events.push(event),
    }),
  )
  const { Database } = await initSqlJs()
  const db = new Database()
  db.run('CREATE TABLE films (id TEXT, title TEXT, ownerId TEXT)')
  db.run("INSERT INTO films VALUES ('a', 'Alphaville', '1'), ('b', 'Brazil', '2'), ('c', 'Charade', '1')")
  const asked: string[] = []
  const exec = db.exec.bind(db)
  db.exec = (sql, values) => (asked.push(sql), exec(sql, values))
  const bus = createInvalidationBus()
  const published: InvalidationEvent[] = []
  bus.subscribe((batch) => void published.push(...batch))
  const events: PlanEvent[] = []
  const films = { ...filmsSource(db, bus), onPlan: (event: PlanEvent) => void events.push(event) }
  const shouting: Plugin = {
    onSchemaChange({ schema }) {
      const title = (schema.getType('Film') as any)?.getFields().title
      if (title) title.resolve = (film: any) => `${film.title}!`
    },
  }
  const yoga = createYoga({
    logging: false,
    plugins: [useSources(films), useGrpcSource(users), ...(wrap ? [shouting] : [])] as Plugin[],
  })
  const ask = async (query: string): Promise<unknown> => {
    const response = await yoga.fetch('http://yoga/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    })
    return response.json()
  }
  return { ask, asked, events, published }
}

const JOINED = {
  data: {
    users: {
      users: [
        { name: 'Ada', films: [{ title: 'Alphaville' }, { title: 'Charade' }] },
        { name: 'Bo', films: [{ title: 'Brazil' }] },
      ],
    },
    films: [{ id: 'a' }, { id: 'b' }, { id: 'c' }],
  },
}
const QUERY = '{ users { users { name films { title } } } films { id } }'

describe('a source of one’s own', () => {
  it('has fields, and joins onto objects of another source by one batch, in one plan', async () => {
    const { ask, asked, events } = await serve()
    expect(await ask(QUERY)).toEqual(JOINED)
    expect(events.map(({ outcome }) => outcome)).toEqual(['planned'])
    expect(asked.filter((sql) => sql.includes('IN (?,?)'))).toHaveLength(1)
    expect(asked).toHaveLength(2)
  })

  it('is executed ordinarily where somebody wrapped a resolver', async () => {
    const { ask, events } = await serve(true)
    expect(await ask('{ films { title } }')).toEqual({
      data: { films: [{ title: 'Alphaville!' }, { title: 'Brazil!' }, { title: 'Charade!' }] },
    })
    expect(events).toMatchObject([{ outcome: 'unplanned', reason: 'title is no column' }])
  })

  it('announces what its mutations change', async () => {
    const { ask, published } = await serve()
    expect(await ask('mutation { addFilm(id: "d", title: "Diva", ownerId: "2") { title } }')).toEqual({
      data: { addFilm: { title: 'Diva' } },
    })
    expect(published).toEqual([{ entityType: 'Film', operation: 'create', entityId: 'd' }])
    expect(await ask('{ films { title } }')).toMatchObject({ data: { films: { length: 4 } } })
  })

  it('is the one that the README of source-kit shows', () => {
    const readme = readFileSync(new URL('../../packages/source-kit/README.md', import.meta.url), 'utf8')
    const source = readFileSync(new URL('films-source.ts', import.meta.url), 'utf8')
    expect(readme).toContain(`\`\`\`ts\n${source}\`\`\``)
  })
})
