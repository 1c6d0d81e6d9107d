import { GraphQLError } from 'graphql'

/** Code of the config reads of a request what nothing says that answers depend on. `asker`: what would have to be stated. */
export function undeclaredRead(
  coordinate: string,
  what: string,
  asker: readonly string[] | undefined,
): GraphQLError {
  const mend = asker
    ? `state it, dependencies: { '${coordinate}': { asker: [${asker.map((name) => `'${name}'`).join(', ')}] } }, or do not read it`
    : 'read a header by its name, or say with responseCache.session and liveQuery.contextKey who asks'
  return new GraphQLError(
    `${coordinate} reads ${what}, by which answers are not told apart: others would be given what was computed for one; ${mend}.`,
    { extensions: { code: 'UNDECLARED_READ' } },
  )
}
