import type { Chance } from './chance.ts'

export type Node = Readonly<Record<string, unknown>>

export const asNode = (value: unknown): Node =>
  typeof value === 'object' && value !== null ? (value as Node) : {}

const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** What a `$ref` into the document leads to, or the node itself. */
export function resolveIn(root: Node, given: unknown): Node {
  let node = asNode(given)
  while (typeof node['$ref'] === 'string') {
    let target: unknown = root
    for (const step of node['$ref'].slice(2).split('/'))
      target = asNode(target)[decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')]
    node = asNode(target)
  }
  return node
}

/** Below this only what must be there is. */
const DEPTH = 4

/** Gives values by chance. */
export interface Sampler {
  /** A value that the schema allows, as a request may hold it. */
  sample(schema: unknown): unknown
  /** Required properties that no schema describes, since this was last called: no value can be had for them. */
  undescribed(): readonly string[]
}

export function createSampler(root: Node, chance: Chance): Sampler {
  let undescribed: string[] = []
  const isLikely = (part: number): boolean => chance.next() < part

  /** A schema with its references and `allOf` united, and one of its options chosen. */
  function united(given: unknown): Node {
    const node = resolveIn(root, given)
    const { allOf, oneOf, anyOf, ...own } = node
    const options = asList(oneOf).length > 0 ? asList(oneOf) : asList(anyOf)
    const kept = options.filter((option) => resolveIn(root, option)['type'] !== 'null')
    const parts = [...asList(allOf), ...(kept.length > 0 ? [chance.pick(kept)] : [])].map(united)
    return parts.reduce(unite, own)
  }

  function sample(schema: unknown, depth: number): unknown {
    const node = united(schema)
    if ('const' in node) return node['const']
    const listed = asList(node['enum']).filter((value) => value !== null)
    if (listed.length > 0) return chance.pick(listed)
    const types = [node['type']].flat().filter((type) => type !== 'null' && type !== undefined)
    switch (types.length > 0 ? chance.pick(types) : impliedType(node)) {
      case 'string':
        return text(node)
      case 'integer':
        return number(node, 1)
      case 'number':
        return number(node, 0.25)
      case 'boolean':
        return isLikely(0.5)
      case 'array':
        return list(node, depth)
      case 'object':
        return object(node, depth)
      default:
        return chance.pick<unknown>([true, 7, 'text'])
    }
  }

  function text(node: Node): string {
    const {
      minLength = 0,
      maxLength = Number(minLength) + 12,
      pattern,
      format,
    } = node as Record<string, never>
    if (pattern !== undefined) return chance.matching(pattern, node['example'])
    const known = FORMATS[String(format)]
    if (known) return known(chance)
    const length = Math.max(Number(minLength), Math.min(Number(maxLength), chance.integer(1, 12)))
    return Array.from({ length }, () => chance.pick(LETTERS)).join('')
  }

  function number(node: Node, step: number): number {
    const of = Number(node['multipleOf'] ?? step)
    let min = Number(node['minimum'] ?? Number.NEGATIVE_INFINITY)
    let max = Number(node['maximum'] ?? Number.POSITIVE_INFINITY)
    const above = node['exclusiveMinimum']
    const below = node['exclusiveMaximum']
    if (typeof above === 'number') min = Math.max(min, above + of)
    else if (above === true) min += of
    if (typeof below === 'number') max = Math.min(max, below - of)
    else if (below === true) max -= of
    const from = Number.isFinite(min) ? min : Number.isFinite(max) ? max - 1000 * of : 0
    const to = Number.isFinite(max) ? Math.min(max, from + 1000 * of) : from + 1000 * of
    return chance.integer(Math.ceil(from / of), Math.floor(to / of)) * of
  }

  function list(node: Node, depth: number): unknown {
    const min = Number(node['minItems'] ?? 0)
    const max = Math.max(min, Math.min(Number(node['maxItems'] ?? 3), 3))
    // An empty list is nothing at all in many styles of parameters.
    const length = depth > DEPTH ? min : chance.integer(Math.max(min, 1), Math.max(max, 1))
    const items = Array.from({ length }, () => sample(node['items'], depth + 1))
    if (node['uniqueItems'] !== true) return items
    return [...new Map(items.map((item) => [JSON.stringify(item), item])).values()]
  }

  function object(node: Node, depth: number): unknown {
    const properties = Object.entries(asNode(node['properties']))
    const required = new Set(asList(node['required']))
    const described = new Set(properties.map(([key]) => key))
    undescribed.push(...[...required].map(String).filter((key) => !described.has(key)))
    const chosen = properties.filter(([key, schema]) => {
      // Beside a reference it counts as well, whatever OpenAPI 3.0 says of siblings.
      if ([asNode(schema), resolveIn(root, schema)].some(({ readOnly }) => readOnly === true)) return false
      return required.has(key) || (depth <= DEPTH && isLikely(0.5))
    })
    const entries = chosen.map(([key, schema]) => [key, sample(schema, depth + 1)])
    const more = asNode(node['additionalProperties'])
    if (properties.length === 0 && Object.keys(more).length > 0)
      for (let count = chance.integer(1, 2); count > 0; count--)
        entries.push([`key-${count}`, sample(more, depth + 1)])
    return Object.fromEntries(entries)
  }

  return {
    sample: (schema) => sample(schema, 0),
    undescribed() {
      const told = undescribed
      undescribed = []
      return told
    },
  }
}

const LETTERS = [...'abcdefghijklmnopqrstuvwxyz0123456789']

const FORMATS: Readonly<Record<string, (chance: Chance) => string>> = {
  'date-time': (chance) =>
    `20${chance.integer(10, 40)}-0${chance.integer(1, 9)}-1${chance.integer(0, 9)}T12:30:00Z`,
  date: (chance) => `20${chance.integer(10, 40)}-0${chance.integer(1, 9)}-1${chance.integer(0, 9)}`,
  time: () => '12:30:00Z',
  uuid: (chance) => chance.matching('^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$'),
  uri: (chance) => `https://${chance.matching('^[a-z]{3,9}$')}.example/a?b=c`,
  url: (chance) => `https://${chance.matching('^[a-z]{3,9}$')}.example/a?b=c`,
  email: (chance) => `${chance.matching('^[a-z]{3,9}$')}@example.com`,
  hostname: (chance) => `${chance.matching('^[a-z]{3,9}$')}.example`,
  ipv4: (chance) => `10.0.${chance.integer(0, 255)}.1`,
  ipv6: () => '2001:db8::1',
  byte: (chance) => Buffer.from(chance.matching('^[a-z]{3,9}$')).toString('base64'),
  binary: (chance) => Buffer.from(chance.matching('^[a-z]{3,9}$')).toString('base64'),
}

function impliedType(node: Node): string | undefined {
  if (node['properties'] !== undefined || node['additionalProperties'] !== undefined) return 'object'
  return node['items'] === undefined ? undefined : 'array'
}

/** Both schemas at once. */
function unite(a: Node, b: Node): Node {
  return {
    ...a,
    ...b,
    properties: { ...asNode(a['properties']), ...asNode(b['properties']) },
    required: [...asList(a['required']), ...asList(b['required'])],
    ...(typeof a['minLength'] === 'number' &&
      typeof b['minLength'] === 'number' && { minLength: Math.max(a['minLength'], b['minLength']) }),
  }
}
