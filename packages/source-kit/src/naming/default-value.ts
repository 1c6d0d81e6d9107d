import { coerceInputValue, valueFromAST, type GraphQLInputType, type ValueNode } from 'graphql'

interface WithDefault {
  readonly type: GraphQLInputType
  readonly defaultValue?: unknown
}

/** How graphql 17 keeps a default: as SDL writes it, or as a client would send it. */
interface LaterDefault {
  readonly literal?: ValueNode
  readonly value?: unknown
}

/** A default as graphql 16 keeps it, whichever version the schema is of. */
export function defaultValueOf(element: WithDefault): unknown {
  const { type, defaultValue } = element
  const later = Reflect.get(element, 'default') as LaterDefault | undefined
  if (defaultValue !== undefined || !later) return defaultValue
  return later.literal ? valueFromAST(later.literal, type) : coerceInputValue(later.value, type)
}
