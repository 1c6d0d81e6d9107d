import { RestConfigError } from '../errors.ts'

/** An object of an OpenAPI document, about which nothing is known yet. */
export type Node = Readonly<Record<string, unknown>>

/** The target of a `$ref`. */
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
  /** The URL that it was downloaded from, after redirects, without a query. */
  readonly url: string | undefined
  /** Files that it refers to and that cannot be had, by their addresses, each with the reason. */
  readonly missing: ReadonlyMap<string, string>
  /** The node itself, or what its `$ref` leads to. @throws RestConfigError where that is nowhere */
  resolve(node: unknown): Node
  /** {@link resolve}, with the reference that names the node. */
  follow(node: unknown): Followed
  /** {@link resolve}; undefined where that is nowhere, which whoever reads the node tells. */
  find(node: unknown): Node | undefined
  /** Components of a section, such as `schemas`; none where it leads nowhere. */
  components(section: string): Node
}

export interface ReadFiles {
  readonly root: Node
  /** The root as it was written in Swagger 2, where references into it lead. */
  readonly swagger2?: Node
  /** The others by their addresses; references in them are absolute, and `#/…` is in the root. */
  readonly files: ReadonlyMap<string, unknown>
  readonly missing: ReadonlyMap<string, string>
  readonly paths?: readonly string[]
  readonly url?: string
}

export function createDocument({
  root,
  swagger2,
  files,
  missing,
  paths = [],
  url,
}: ReadFiles): OpenApiDocument {
  const targets = new Map<string, Node>()
  /** References whose way is being looked for. */
  const underWay = new Set<string>()

  let names: ReadonlyMap<string, string> | undefined

  /** The reference by its place, where it is by the name that a schema gives itself. */
  function placed(ref: string): string {
    if (swagger2 && ref.startsWith('#/definitions/')) return ref.replace('definitions', 'components/schemas')
    const [file, pointer] = splitOnce(ref, '#')
    if (file === '' ? pointer === '' || pointer.startsWith('/') : files.has(file)) return ref
    names ??= namesIn(root)
    const at = names.get(ref) ?? names.get(file)
    return at === undefined ? ref : names.has(ref) ? at : at + pointer
  }

  function pointed(from: unknown, pointer: string): unknown {
    let value = from
    for (const step of pointer.split('/').slice(1)) {
      const key = unescapeStep(decoded(step))
      // A step may lead through a reference, as where `components.schemas` is a file.
      const node = Object.hasOwn(asNode(value), key) ? asNode(value) : follow(value).node
      value = Object.hasOwn(node, key) ? node[key] : undefined
    }
    return value
  }

  function target(ref: string): Node {
    const known = targets.get(ref)
    if (known) return known
    const [file = '', pointer = ''] = splitOnce(ref, '#')
    let value: unknown
    underWay.add(ref)
    try {
      // A reference that was written in Swagger 2 points to the places of that: in the root as it is now other parts may be there.
      if (file === '') value = pointed(swagger2, pointer) ?? pointed(root, pointer)
      else value = pointed(files.get(file), pointer)
    } finally {
      underWay.delete(ref)
    }
    const isAnchor = pointer !== '' && !pointer.startsWith('/')
    const reason = missing.get(file)
    if (value === undefined || isAnchor)
      throw new RestConfigError(
        `$ref "${ref}" cannot be resolved${reason === undefined ? '' : ` (${reason})`}`,
      )
    targets.set(ref, asNode(value))
    return asNode(value)
  }

  function follow(given: unknown): Followed {
    let node = asNode(given)
    let ref: string | undefined
    for (let hops = 0; typeof node['$ref'] === 'string'; hops++) {
      const next = placed(node['$ref'])
      if (hops > 50 || underWay.has(next)) throw new RestConfigError(`$ref "${next}" refers to itself`)
      if (!ref?.startsWith('#/components/') || next.startsWith('#/components/')) ref = next
      node = target(next)
    }
    return { node, ref }
  }

  const resolve = (node: unknown): Node => follow(node).node

  function find(node: unknown): Node | undefined {
    try {
      return resolve(node)
    } catch {
      return undefined
    }
  }

  const components = (section: string): Node => find(find(root['components'])?.[section]) ?? {}

  return { root, files: paths, url, missing, follow, find, resolve, components }
}

/** Places by `$anchor`, with its `#`, and by `$id` (JSON Schema 2020-12, sections 8.2.1 and 8.2.2). */
function namesIn(root: Node): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  function visit(value: unknown, place: string): void {
    if (typeof value !== 'object' || value === null) return
    const { $anchor, $dynamicAnchor, $id } = asNode(value)
    if (typeof $anchor === 'string') names.set(`#${$anchor}`, place)
    // Several schemas with one are told apart only where they are used.
    if (typeof $dynamicAnchor === 'string')
      names.set(
        `#${$dynamicAnchor}`,
        names.has(`#${$dynamicAnchor}`) ? `#/ (several are ${$dynamicAnchor})` : place,
      )
    if (typeof $id === 'string') names.set($id.replace(/#$/, ''), place)
    for (const [key, member] of Object.entries(value))
      visit(member, `${place}/${encodeURIComponent(escapeStep(key))}`)
  }
  visit(root, '#')
  return names
}

export function splitOnce(text: string, at: string): readonly [string, string] {
  const index = text.indexOf(at)
  return index < 0 ? [text, ''] : [text.slice(0, index), text.slice(index + at.length)]
}

/** A step of a JSON pointer as it is written (RFC 6901, section 3). */
export function escapeStep(step: string): string {
  return step.replaceAll('~', '~0').replaceAll('/', '~1')
}

export function unescapeStep(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~')
}

/** The text that is percent-encoded; the text itself where it is not. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
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
