import type { GraphQLError } from 'graphql'
import type { PathSegment } from '../parts.ts'

/** Errors by the place they belong to. */
export interface ErrorNode {
  readonly here: GraphQLError[]
  readonly below: Map<PathSegment, ErrorNode>
}

const none: readonly GraphQLError[] = []

/** A result's errors as a tree, so that each part can take those of the places it shows. */
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

  /** The errors of exactly this place that no part has taken. */
  at(node: ErrorNode | undefined): readonly GraphQLError[] {
    return node ? this.#claim(node.here) : none
  }

  /** The errors of this place and of everything below it: those that a null stands for, but not what a part has taken. */
  within(node: ErrorNode | undefined): readonly GraphQLError[] {
    if (!node) return none
    return [...this.#claim(node.here), ...[...node.below.values()].flatMap((below) => this.within(below))]
  }

  /** The errors that no part has taken. */
  unclaimed(): readonly GraphQLError[] {
    return this.#errors.filter((error) => !this.#claimed.has(error))
  }

  /** Takes the errors that no part has taken: each is told once, with the first part that shows its place. */
  #claim(list: readonly GraphQLError[]): readonly GraphQLError[] {
    const fresh = list.filter((error) => !this.#claimed.has(error))
    for (const error of fresh) this.#claimed.add(error)
    return fresh
  }
}
