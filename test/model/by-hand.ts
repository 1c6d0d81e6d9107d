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
