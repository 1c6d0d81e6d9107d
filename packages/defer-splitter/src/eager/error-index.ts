import type { GraphQLError } from 'graphql'
import type { PathSegment } from '../parts.ts'

/** Errors by path. */
export interface ErrorNode {
  readonly here: GraphQLError[]
  readonly below: Map<PathSegment, ErrorNode>
}

const none: readonly GraphQLError[] = []

/** The errors of a result as a tree. Each part receives the errors of the paths that it contains. */
export class ErrorIndex {
  readonly root: ErrorNode = { here: [], below: new Map() }
  readonly #errors: readonly GraphQLError[]
  readonly #claimed = new Set<GraphQLError>()

  constructor(errors: readonly GraphQLError[] = []) {
    this.#errors = errors
    for (const error of errors) {
      if (!error.path) continue
      let node = this.root
      for (const segment of error.path) {
        let next = node.below.get(segment)
        if (!next) node.below.set(segment, (next = { here: [], below: new Map() }))
        node = next
      }
      node.here.push(error)
    }
  }

  withoutPath(): readonly GraphQLError[] {
    return this.#claim(this.#errors.filter(({ path }) => !path))
  }

  /** Returns the errors of exactly this path that are not yet in a part. */
  at(node: ErrorNode | undefined): readonly GraphQLError[] {
    return node ? this.#claim(node.here) : none
  }

  /**
   * Returns the errors of this path and of all paths below it that are not yet in a part. They explain a null at this
   * path.
   */
  within(node: ErrorNode | undefined): readonly GraphQLError[] {
    if (!node) return none
    return [...this.#claim(node.here), ...[...node.below.values()].flatMap((below) => this.within(below))]
  }

  /** Returns the errors that are not yet in a part. */
  unclaimed(): readonly GraphQLError[] {
    return this.#errors.filter((error) => !this.#claimed.has(error))
  }

  /**
   * Takes errors that are not yet in a part, so that each error is sent once, with the first part that contains its
   * path.
   */
  #claim(list: readonly GraphQLError[]): readonly GraphQLError[] {
    const fresh = list.filter((error) => !this.#claimed.has(error))
    for (const error of fresh) this.#claimed.add(error)
    return fresh
  }
}
