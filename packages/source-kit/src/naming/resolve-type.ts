import {
  defaultTypeResolver,
  GraphQLError,
  type GraphQLInterfaceType,
  type GraphQLTypeResolver,
  type GraphQLUnionType,
} from 'graphql'
import { markTeller, tellerOf } from '../own/tellers.ts'
import type { Names } from './decide-names.ts'

type Abstract = GraphQLInterfaceType | GraphQLUnionType

/** Tells the type of a value as clients call it. */
export function clientTypeResolver(type: Abstract, names: Names): GraphQLTypeResolver<unknown, unknown> {
  const { name, resolveType } = type

  function client(own: string | undefined): string | undefined {
    const found = own === undefined ? undefined : names.get(own)
    if (found === null)
      throw new GraphQLError(
        `The object type of a value of "${names.get(name) ?? name}" is hidden from clients, so the value cannot be returned.`,
        {
          extensions: { code: 'HIDDEN_TYPE' },
        },
      )
    return found ?? own
  }

  const resolve: GraphQLTypeResolver<unknown, unknown> = (value, context, info, abstract) => {
    if (resolveType) {
      const found = resolveType(value, context, info, abstract)
      return found instanceof Promise ? found.then(client) : client(found as string | undefined)
    }
    // Types that tell their values themselves have their new names.
    const said = memberNamed(value)
    return said === undefined ? defaultTypeResolver(value, context, info, abstract) : client(said)
  }
  const tell = tellerOf(type)
  if (!tell) return resolve
  return markTeller(resolve, (value) => {
    const own = tell(value)
    return own === undefined ? undefined : (names.get(own) ?? (names.has(own) ? undefined : own))
  })
}

function memberNamed(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('__typename' in value)) return undefined
  return typeof value.__typename === 'string' ? value.__typename : undefined
}
