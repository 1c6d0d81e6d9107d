import type { Finding } from '@vinyasa/core'
import { type ASTNode, type GraphQLError, Source } from 'graphql'

/** A text of the config's `typeDefs`, which knows where the config has it. */
export class TypeDefsText extends Source {
  readonly path: readonly PropertyKey[]

  constructor(text: string, path: readonly PropertyKey[]) {
    super(text, path.length === 1 ? 'typeDefs' : `typeDefs[${String(path[1])}]`)
    this.path = path
  }
}

/** Where in `typeDefs` something is written. */
export function placeOfNode(node: ASTNode | undefined): Pick<Finding, 'path' | 'offset'> {
  const { source, start } = node?.loc ?? {}
  return source instanceof TypeDefsText ? { path: source.path, offset: start } : {}
}

/** A finding for each mistake, with its place: `typeDefs:3:7: Unknown type "Usr".` */
export function findingsIn(mistakes: readonly GraphQLError[]): readonly Finding[] {
  return mistakes.map(({ message, source, positions, locations, nodes }) => {
    const [place] = locations ?? []
    const text = source ?? nodes?.[0]?.loc?.source
    const known = text instanceof TypeDefsText ? { path: text.path, offset: positions?.[0] } : {}
    const name = text?.name ?? 'typeDefs'
    return { message: `${name}${place ? `:${place.line}:${place.column}` : ''}: ${message}`, ...known }
  })
}
