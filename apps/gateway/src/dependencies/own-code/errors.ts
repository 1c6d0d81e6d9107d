import { GraphQLError } from 'graphql'

/** Code of the config calls a source that forwards more of the request than the statements of the operation's fields name. */
export function undeclaredRead(
  source: string,
  headers: readonly string[],
  declared: readonly string[],
): GraphQLError {
  const all = [...declared, ...headers].map((name) => `'${name}'`).join(', ')
  return new GraphQLError(
    `A resolver calls context.sources.${source}, which forwards ${headers.map((name) => `the request header "${name}"`).join(' and ') || 'undeclared request data'}. The response would be shared with clients that send different values. ${headers.length > 0 ? `Declare the request headers for the field with dependencies: { 'Type.field': { variesBy: [${all}] } }` : 'Identify the caller with responseCache.session (liveQuery.contextKey for live queries)'}, or call the source with { context: null }.`,
    { extensions: { code: 'UNDECLARED_READ' } },
  )
}
