import type { InvalidationBus } from '@vinyasa/invalidation'
import * as kit from '@vinyasa/source-kit'
import { getNamedType, type GraphQLObjectType } from 'graphql'
import type { Database, SqlValue } from 'sql.js'

type Row = Readonly<Record<string, SqlValue>>

export function filmsSource(db: Database, bus: InvalidationBus): kit.Source {
  function select(where: string, values: readonly SqlValue[]): Row[] {
    const [found] = db.exec(`SELECT id, title, ownerId FROM films WHERE ${where} ORDER BY id`, [...values])
    return (found?.values ?? []).map(([id = '', title = '', ownerId = '']) => ({ id, title, ownerId }))
  }
  const all = (): Row[] => select('true', [])
  const ownedBy = (ids: readonly SqlValue[]): Row[] =>
    select(`ownerId IN (${ids.map(() => '?').join()})`, ids)
  const owned = kit.createBatchedJoin({
    readKey: kit.parentField('id'),
    many: true,
    maxBatchSize: 500,
    load: async (ids) => kit.groupByKey(ownedBy(ids as SqlValue[]), (row) => (row as Row)['ownerId']),
  })

  /** Writes rows as JSON. Fields without a column, or with a resolver of another plugin, are not plannable. */
  function writer({ field, nodes }: kit.Selection, scope: kit.SelectionScope): (rows: Row[]) => string {
    const type = getNamedType(field.type) as GraphQLObjectType
    const names = [...kit.fieldsBelow(scope, type, nodes)].map(([key, [node]]) => [
      key,
      node?.name.value ?? '',
    ])
    for (const [, name = ''] of names)
      if (type.getFields()[name]?.resolve !== undefined || !['id', 'title', 'ownerId'].includes(name))
        throw new kit.NotPlannable(`${name} is no column`)
    const pick = (row: Row): object => Object.fromEntries(names.map(([key, name = '']) => [key, row[name]]))
    return (rows) => JSON.stringify(rows.map(pick))
  }
  // Repeating a read is cheap, so no calls are recorded for graphql-js.
  const recorded = (): kit.Recorded => ({ roots: new Map(), joins: new Map() })
  const path: kit.FastPath = {
    prepareRoots(selections, scope) {
      const writers = selections.map((selection) => writer(selection, scope))
      return { start: () => ({ json: Promise.resolve(writers.map((write) => write(all()))), recorded }) }
    },
    prepareJoin(selection, scope) {
      const write = writer(selection, scope)
      async function load(keys: readonly (string | null)[]): Promise<kit.JoinedJson[]> {
        const rows = ownedBy(keys.filter((key) => key !== null))
        return keys.map((key) => {
          const own = rows.filter(({ ownerId }) => ownerId === key)
          const json = write(own)
          return { length: json.length, objects: own.length, json: () => json }
        })
      }
      return { parentKey: 'id', start: () => ({ load, recorded }) }
    },
  }
  kit.offerField(all, path)
  kit.offerField(owned, path)

  async function addFilm(
    _: unknown,
    film: { readonly [name in 'id' | 'ownerId' | 'title']: string },
  ): Promise<Row> {
    db.run('INSERT INTO films (id, title, ownerId) VALUES (?, ?, ?)', [film.id, film.title, film.ownerId])
    await bus.publish([{ entityType: 'Film', operation: 'create', entityId: film.id }])
    return film
  }
  const args = { id: 'ID!', title: 'String!', ownerId: 'ID!' }
  const columns = Object.entries(args).map(([name, type]) => ({ parent: 'Film', name, type }))
  const fields = [
    { parent: 'Query', name: 'films', type: '[Film!]!', resolve: all },
    { parent: 'User', name: 'films', type: '[Film!]!', resolve: owned, requires: ['id'] },
    { parent: 'Mutation', name: 'addFilm', type: 'Film!', args, resolve: addFilm },
    ...columns,
  ]
  const origin = 'films.sqlite'
  return {
    id: origin,
    types: new Map([['Film', 'A film.']]),
    fields: fields.map((field) => ({ ...field, origin })),
  }
}
