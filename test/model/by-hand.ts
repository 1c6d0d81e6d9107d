import type { IResolvers } from '@graphql-tools/utils'
import { cacheControlTypeDefs } from '@vinyasa/response-cache'
import { createCodeSide } from './code-side.ts'
import type { OwnSide } from './own-side.ts'
import type { SchemaPlan, StatementPlan } from './plan.ts'

/** All that a server's owner writes beside its sources. */
export interface HandWritten {
  readonly typeDefs: readonly string[]
  readonly resolvers: IResolvers
}

/** Undefined where there is nothing. */
export function byHand(schema: SchemaPlan, own: OwnSide | undefined): HandWritten | undefined {
  const code = createCodeSide(schema)
  if (!own && !code) return undefined
  const { statement } = schema
  const stated =
    own && statement?.isByHand ? [cacheControlTypeDefs, state(own.typeDefs, statement)] : own?.typeDefs
  return {
    typeDefs: [stated ?? [], code?.typeDefs ?? []].flat(),
    resolvers: {
      ...own?.resolvers,
      Query: { ...(own?.resolvers['Query'] as object | undefined), ...code?.resolvers['Query'] },
    } as IResolvers,
  }
}

type Members = Readonly<Record<string, unknown>>

const withoutPrototype = (members: Members): object => Object.assign(Object.create(null) as object, members)

/** Shapes that a config can have the resolvers of a type in. */
const SHAPES: readonly ((members: Members) => unknown)[] = [
  (members) => members,
  withoutPrototype,
  // A module namespace: `import * as Query`.
  (members) => Object.defineProperty(withoutPrototype(members), Symbol.toStringTag, { value: 'Module' }),
  (members) => Object.create(members),
  instanceWith,
  (members) => Object.assign(() => {}, members),
  (members) => Object.freeze({ ...members }),
  (members) => new Proxy(members, {}),
  (members) =>
    Object.defineProperties(
      {},
      mapValues(members, (value) => ({ enumerable: true, get: () => value })),
    ),
]

/** Returns the resolvers of `Query` in one of the shapes, which depends on the schema. */
export function shaped(
  written: HandWritten | undefined,
  { reads, code }: SchemaPlan,
): HandWritten | undefined {
  if (!written) return undefined
  const shape = SHAPES[(reads.length + code.length) % SHAPES.length]!
  const query = shape({ ...written.resolvers['Query'] } as Members)
  return { ...written, resolvers: { ...written.resolvers, Query: query } as IResolvers }
}

/** Returns an object like the instance of a class: the members are not enumerable, and belong to its prototype. */
function instanceWith(members: Members): object {
  const methods = mapValues(members, (value) => ({ value }))
  return Object.create(Object.defineProperties({}, methods)) as object
}

const mapValues = <T>(members: Members, map: (value: unknown) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [name, map(value)]))

/** The definitions with a directive at a place. */
function state(typeDefs: string, { place, word }: StatementPlan): string {
  const directive = `@cacheControl(${word === 'private' ? 'scope: PRIVATE' : 'maxAge: 0'})`
  const found = typeDefs.replace(
    {
      Query: /(type Query )(\{)/,
      Named: /(interface Named )(\{)/,
      'Named.text': /(interface Named \{ id: ID! text: String! )(\})/,
      Either: /(union Either )(=)/,
    }[place] ?? new RegExp(`(type ${place} implements Named )(\\{)`),
    `$1${directive} $2`,
  )
  if (found === typeDefs) throw new Error(`Nothing is defined at ${place}.`)
  return found
}
