import type { GraphQLError } from 'graphql'
import type { PathSegment } from '../parts.ts'

/** Errors by the place they belong to. */
export interface ErrorNode {
  readonly here: GraphQLError[]
  readonly below: Map<PathSegment, ErrorNode>
}

/** A result's errors as a tree, so that each part can take those of the places it shows. */
export interface ErrorIndex {
  readonly root: ErrorNode
  readonly withoutPath: readonly GraphQLError[]
  /** The errors of exactly this place that no part has taken. */
  at(node: ErrorNode | undefined): readonly GraphQLError[]
  /** The errors of this place and of everything below it: those that a null stands for, but not what a part has taken. */
  within(node: ErrorNode | undefined): readonly GraphQLError[]
  /** The errors that no part has taken. */
  unclaimed(): readonly GraphQLError[]
}

const none: readonly GraphQLError[] = []

export function createErrorIndex(errors: readonly GraphQLError[] = []): ErrorIndex {
  const root: ErrorNode = { here: [], below: new Map() }
  const claimed = new Set<GraphQLError>()
  for (const error of errors) {
    if (!error.path) continue
    let node = root
    for (const segment of error.path) {
      let next = node.below.get(segment)
      if (!next) node.below.set(segment, (next = { here: [], below: new Map() }))
      node = next
    }
    node.here.push(error)
  }

  /** Takes the errors that no part has taken: each is told once, with the first part that shows its place. */
  function claim(list: readonly GraphQLError[]): readonly GraphQLError[] {
    const fresh = list.filter((error) => !claimed.has(error))
    for (const error of fresh) claimed.add(error)
    return fresh
  }

  function within(node: ErrorNode | undefined): readonly GraphQLError[] {
    if (!node) return none
    return [...claim(node.here), ...[...node.below.values()].flatMap(within)]
  }

  return {
    root,
    withoutPath: claim(errors.filter(({ path }) => !path)),
    at: (node) => (node ? claim(node.here) : none),
    within,
    unclaimed: () => errors.filter((error) => !claimed.has(error)),
  }
}
