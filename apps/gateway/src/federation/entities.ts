import type { Finding } from '@vinyasa/base'
import {
  getDirectiveValues,
  isObjectType,
  type DirectiveNode,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql'
import type { IResolvers } from '@graphql-tools/utils'
import { suggestFor } from '../coordinates.ts'
import { findingAt, formatPath } from '../errors.ts'
import { placeOfNode } from '../texts/type-defs-text.ts'
import { foundLookup, namedLookup, type Report } from './find-lookup.ts'
import { topLevel, unknownIn } from './key-selection.ts'
import type { Lookup, Reference } from './lookup.ts'
import type { FederationConfig, FederationEntity } from './types.ts'

type ResolveReference = (reference: Reference, context: unknown, info: unknown) => unknown

/** A type that other subgraphs may refer to. */
export interface Entity {
  readonly typeName: string
  readonly keys: readonly string[]
  readonly isResolvable: boolean
  /** How references are resolved; undefined: the reference itself is all that its fields need. */
  readonly lookup: Lookup | undefined
  readonly resolveReference: ResolveReference | undefined
}

/** The entities of a schema; what is wrong with one is a finding. */
export function findEntities(
  schema: GraphQLSchema,
  { entities: configured = {} }: FederationConfig,
  resolvers: IResolvers | undefined,
): { readonly entities: readonly Entity[]; readonly findings: readonly Finding[] } {
  const findings: Finding[] = []
  const entities: Entity[] = []
  for (const name of Object.keys(configured))
    if (!isObjectType(schema.getType(name)))
      findings.push(
        findingAt(
          ['federation', 'entities', name],
          `the schema has no such object type${suggestFor(schema, name)}`,
        ),
      )
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue
    const own = Object.hasOwn(configured, type.name) ? configured[type.name] : undefined
    const stated = statedKeys(schema, type)
    const keys = own ? [own.key].flat() : stated.keys
    if (keys.length === 0) continue
    const report: Report = (message, inside = []) => {
      const path = ['federation', 'entities', type.name]
      findings.push(
        own
          ? { message: `${formatPath(path)}: ${message}`, path: [...path, ...inside] }
          : { message: `${type.name} @key: ${message}`, ...placeOfNode(stated.nodes[0]) },
      )
    }
    const entity = entityOf(type, keys, own, stated.isResolvable, report)
    if (entity) entities.push(entity)
  }
  return { entities, findings }

  function entityOf(
    type: GraphQLObjectType,
    keys: readonly string[],
    own: FederationEntity | undefined,
    isStatedResolvable: boolean,
    report: Report,
  ): Entity | undefined {
    const typeName = type.name
    for (const [index, key] of keys.entries()) {
      const unknown = unknownIn(type, key)
      const path = Array.isArray(own?.key) ? ['key', index] : ['key']
      if (unknown !== undefined) return report(`the key "${key}" ${unknown}`, path)
    }
    const base = { typeName, keys, lookup: undefined, resolveReference: undefined }
    if (own?.field === false || (!own && !isStatedResolvable)) return { ...base, isResolvable: false }
    const resolveReference = referenceResolver(resolvers, typeName)
    if (resolveReference) return { ...base, isResolvable: true, resolveReference }
    const fields = topLevel(keys[0] as string)
    const lookup =
      own?.field === undefined
        ? foundLookup(schema, type, fields, report)
        : namedLookup(schema, type, own, keys[0] as string, report)
    if (lookup) return { ...base, isResolvable: true, lookup }
    if (lookup === null) return undefined
    // A type of the config's own has nothing but what its resolvers make of a reference.
    if (type.astNode) return { ...base, isResolvable: true }
    return report(
      `no field of Query takes ${fields.join(' and ')} without other required arguments and returns ${typeName}; add resolvers.${typeName}.__resolveReference, ` +
        `or set federation.entities.${typeName}.field (to false if other subgraphs resolve references to ${typeName})`,
    )
  }
}

/** Returns the keys that `@key` and `(graphql.entity)` state. */
function statedKeys(
  schema: GraphQLSchema,
  type: GraphQLObjectType,
): {
  readonly keys: readonly string[]
  readonly isResolvable: boolean
  readonly nodes: readonly DirectiveNode[]
} {
  const directive = schema.getDirective('key')
  const nodes = [type.astNode, ...type.extensionASTNodes]
    .flatMap((node) => node?.directives ?? [])
    .filter(({ name }) => directive && name.value === 'key')
  const written = nodes.map((node) => directive && getDirectiveValues(directive, { directives: [node] }))
  const { key = [] } = (type.extensions['directives'] ?? {}) as { readonly key?: readonly Reference[] }
  const all = [...written, ...key].filter((values) => values !== undefined && values !== null)
  return {
    keys: all.map((values) => String(values['fields'])),
    isResolvable: all.some((values) => values['resolvable'] !== false),
    nodes,
  }
}

function referenceResolver(
  resolvers: IResolvers | undefined,
  typeName: string,
): ResolveReference | undefined {
  const own: unknown = resolvers?.[typeName]
  if (typeof own !== 'object' || own === null || !('__resolveReference' in own)) return undefined
  return typeof own.__resolveReference === 'function'
    ? (own.__resolveReference as ResolveReference)
    : undefined
}
