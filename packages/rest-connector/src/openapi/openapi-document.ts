import { RestConfigError } from '../errors.ts'

/** An object of an OpenAPI document, about which nothing is known yet. */
export type Node = Readonly<Record<string, unknown>>

export interface OpenApiDocument {
  readonly root: Node
  /** The node itself, or what its `$ref` leads to inside the document. */
  resolve(node: unknown): Node
}

/** Loads and validates a document. The parser is only loaded when it is needed. */
export async function loadOpenApi(source: object | string, validateIt: boolean): Promise<OpenApiDocument> {
  if (typeof source === 'string' && /^https?:/i.test(source))
    throw new RestConfigError('give endpointsFromOpenApi a file or an object; documents are not downloaded')
  const { bundle, compileErrors, validate } = await import('@readme/openapi-parser')
  // Only a file may refer to other files, and nothing may make us send requests.
  const isFile = typeof source === 'string'
  const options = { resolve: { external: isFile, file: isFile } }
  const root = (await bundle(isFile ? source : structuredClone(source as never), options).catch(
    (cause: unknown) => {
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new RestConfigError(`the OpenAPI document cannot be read: ${reason}`, { cause })
    },
  )) as unknown as Node
  if (typeof root['openapi'] !== 'string' || !root['openapi'].startsWith('3.'))
    throw new RestConfigError('the document is not OpenAPI 3; convert older ones first')
  if (validateIt) {
    const result = await validate(structuredClone(root) as never, { resolve: { external: false } })
    if (!result.valid)
      throw new RestConfigError(`the OpenAPI document is not valid: ${compileErrors(result).slice(0, 2000)}`)
  }
  return { root, resolve: (node) => resolveRef(root, node) }
}

function resolveRef(root: Node, node: unknown): Node {
  let current = asNode(node)
  for (let hops = 0; typeof current['$ref'] === 'string'; hops++) {
    const ref = current['$ref']
    if (!ref.startsWith('#') || hops > 50) throw new RestConfigError(`$ref "${ref}" leads nowhere`)
    let target: unknown = root
    for (const step of ref.slice(1).split('/').slice(1)) {
      const key = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
      target = Object.hasOwn(asNode(target), key) ? asNode(target)[key] : undefined
    }
    if (target === undefined) throw new RestConfigError(`$ref "${ref}" leads nowhere`)
    current = asNode(target)
  }
  return current
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
