import type { GraphQLError } from 'graphql'
import type { Data, PathSegment } from '../parts.ts'
import type { Path } from './place.ts'

interface Node {
  /** Not a place yet, but on the way to one; null; or left as an earlier part delivered it. */
  state: 'way' | 'null' | 'left'
  readonly below: Map<PathSegment, Node>
}

/**
 * The places that a response has delivered as null for an error. Clients merge what comes later over what they have, so
 * nothing at or below these places may follow: the object would come back to life.
 */
export class DeliveredNulls {
  #root: Node | undefined

  get isEmpty(): boolean {
    return this.#root === undefined
  }

  /**
   * @param isList An earlier part delivered a list there. It is left as it is, and out of what follows: not every client
   *   can merge null over a list.
   */
  add(place: Path, isList: boolean): void {
    this.#node(place).state = isList ? 'left' : 'null'
  }

  /** Whether the place is one of them, or lies below one. */
  cover(path: readonly PathSegment[]): boolean {
    let node = this.#root
    for (const segment of path) {
      node = node?.below.get(segment)
      if (!node) return false
      if (node.state !== 'way') return true
    }
    return false
  }

  /** Puts the nulls into data that is about to be delivered at the path. */
  applyTo(data: Data, path: readonly PathSegment[]): void {
    let node = this.#root
    for (const segment of path) node = node?.below.get(segment)
    if (node) nullify(data, node)
  }

  /** The errors that explain what is not null yet. */
  unexplained(errors: readonly GraphQLError[]): readonly GraphQLError[] {
    return errors.filter(({ path }) => !path || !this.cover(path))
  }

  #node({ prev, key }: Path): Node {
    const above = prev ? this.#node(prev) : (this.#root ??= createNode())
    let node = above.below.get(key)
    if (!node) above.below.set(key, (node = createNode()))
    return node
  }
}

function createNode(): Node {
  return { state: 'way', below: new Map() }
}

function nullify(data: Data, node: Node): void {
  for (const [key, below] of node.below) {
    if (!Object.hasOwn(data, key)) continue
    const value = data[key]
    if (below.state === 'null') data[key] = null
    else if (below.state === 'left') delete data[key]
    else if (typeof value === 'object' && value !== null) nullify(value as Data, below)
  }
}
