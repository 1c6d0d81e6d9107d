import { RestConfigError } from '../errors.ts'

/** An object of an OpenAPI document, about which nothing is known yet. */
export type Node = Readonly<Record<string, unknown>>

/** What a `$ref` leads to. */
export interface Followed {
  readonly node: Node
  /** The reference on the way that names the node: to a component, or else the last; undefined: there was none. */
  readonly ref: string | undefined
}

/** A document with all files that it refers to. */
export interface OpenApiDocument {
  readonly root: Node
  /** Paths of the files that it was read from; none where it was given as an object. */
  readonly files: readonly string[]
  /** The node itself, or what its `$ref` leads to. @throws RestConfigError where that is nowhere */
  resolve(node: unknown): Node
  /** {@link resolve}, with the reference that names the node. */
  follow(node: unknown): Followed
}

/** References of `files` are absolute; `#/…` is in the root. */
export function createDocument(
  root: Node,
  files: ReadonlyMap<string, unknown>,
  paths: readonly string[] = [],
): OpenApiDocument {
  const targets = new Map<string, Node>()

  function target(ref: string): Node {
    const known = targets.get(ref)
    if (known) return known
    const [file = '', pointer = ''] = splitOnce(ref, '#')
    let value: unknown = file === '' ? root : files.get(file)
    for (const step of pointer.split('/').slice(1)) {
      const key = decode(step).replaceAll('~1', '/').replaceAll('~0', '~')
      value = Object.hasOwn(asNode(value), key) ? asNode(value)[key] : undefined
    }
    const isAnchor = pointer !== '' && !pointer.startsWith('/')
    if (value === undefined || isAnchor) throw new RestConfigError(`$ref "${ref}" leads nowhere`)
    targets.set(ref, asNode(value))
    return asNode(value)
  }

  function follow(given: unknown): Followed {
    let node = asNode(given)
    let ref: string | undefined
    for (let hops = 0; typeof node['$ref'] === 'string'; hops++) {
      const next = node['$ref']
      if (hops > 50) throw new RestConfigError(`$ref "${next}" leads to itself`)
      if (!ref?.startsWith('#/components/') || next.startsWith('#/components/')) ref = next
      node = target(next)
    }
    return { node, ref }
  }

  return { root, files: paths, follow, resolve: (node) => follow(node).node }
}

export function splitOnce(text: string, at: string): readonly [string, string] {
  const index = text.indexOf(at)
  return index < 0 ? [text, ''] : [text.slice(0, index), text.slice(index + at.length)]
}

function decode(step: string): string {
  try {
    return decodeURIComponent(step)
  } catch {
    return step
  }
}

/** The value as an object; anything else is an empty one. */
export function asNode(value: unknown): Node {
  return typeof value === 'object' && value !== null ? (value as Node) : {}
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
