import { keyed, type Finding } from '@vinyasa/core'
import { describeVariesBy, toVariesBy } from '@vinyasa/invalidation'
import { mergeSources, type ContributedField, type Source } from '@vinyasa/source-kit'
import {
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLString,
  GraphQLUnionType,
  isObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  Kind,
  parse,
  print,
  visit,
  type ConstDirectiveNode,
  type DocumentNode,
  type ScalarTypeDefinitionNode,
  getDirectiveValues,
} from 'graphql'
import { type IResolvers, getDocumentNodeFromSchema } from '@graphql-tools/utils'
import { ConfigError, findingAt, formatPath } from '../errors.ts'
import { noEntity, tooManyReferences } from './errors.ts'
import { lookUp, resolveEach, type Reference, type Lookup } from './lookup.ts'
import type { FederationConfig, FederationSections, FederationEntity } from './types.ts'
import { FEDERATION_DIRECTIVES, FEDERATION_URL } from './directives.ts'
import { suggestFor } from '../coordinates.ts'
import { placeOfNode } from '../texts/type-defs-text.ts'
import { foundLookup, namedLookup, type Report, topLevel, unknownIn } from './find-lookup.ts'

type ResolveReference = (reference: Reference, context: unknown, info: unknown) => unknown

/** A type that other subgraphs may refer to. */
interface Entity {
  readonly typeName: string
  readonly keys: readonly string[]
  readonly isResolvable: boolean
  /** How references are resolved; undefined: the reference itself is all that its fields need. */
  readonly lookup: Lookup | undefined
  readonly resolveReference: ResolveReference | undefined
}

/** The entities of a schema; what is wrong with one is a finding. */
function findEntities(
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
function statedKeys(schema: GraphQLSchema, type: GraphQLObjectType) {
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

/** Types that the subgraph itself adds, which routers know. */
const OWN: ReadonlySet<string> = new Set(['_Any', '_Entity', '_Service'])
const OWN_FIELDS: ReadonlySet<string> = new Set(['_entities', '_service'])
const KEPT: ReadonlySet<string> = new Set([...FEDERATION_DIRECTIVES, 'deprecated', 'specifiedBy', 'oneOf'])

/** The SDL of a subgraph: the whole schema, with the keys of its entities. */
function subgraphSdl(schema: GraphQLSchema, entities: readonly Entity[]): string {
  const keys = new Map(entities.map((entity) => [entity.typeName, keysOf(entity)]))
  const used = new Set<string>()
  const document: DocumentNode = visit(getDocumentNodeFromSchema(schema), {
    DirectiveDefinition: () => null,
    SchemaDefinition: () => null,
    FieldDefinition: (node) => (OWN_FIELDS.has(node.name.value) ? null : undefined),
    ScalarTypeDefinition: (node) => (OWN.has(node.name.value) ? null : undefined),
    UnionTypeDefinition: (node) => (OWN.has(node.name.value) ? null : undefined),
    ObjectTypeDefinition: (node) => {
      if (OWN.has(node.name.value)) return null
      const own = keys.get(node.name.value)
      if (!own) return undefined
      const others = node.directives?.filter(({ name }) => name.value !== 'key') ?? []
      return { ...node, directives: [...others, ...own] }
    },
    Directive: {
      // After types have got theirs.
      leave(node) {
        if (!KEPT.has(node.name.value)) return null
        if (FEDERATION_DIRECTIVES.has(node.name.value)) used.add(`"@${node.name.value}"`)
        return undefined
      },
    },
  })
  const text = print({
    ...document,
    definitions: document.definitions.filter(
      (one) => one.kind !== Kind.OBJECT_TYPE_DEFINITION || (one.fields?.length ?? 0) > 0,
    ),
  })
  return `extend schema @link(url: "${FEDERATION_URL}", import: [${[...used].sort().join(', ')}])\n\n${text}\n`
}

function keysOf({ keys, isResolvable }: Entity): readonly ConstDirectiveNode[] {
  const texts = keys.map(
    (fields) => `@key(fields: ${JSON.stringify(fields)}${isResolvable ? '' : ', resolvable: false'})`,
  )
  const [type] = parse(`scalar _Any ${texts.join(' ')}`, { noLocation: true }).definitions
  return (type as ScalarTypeDefinitionNode).directives ?? []
}

const ID = 'federation'

/** The sections of the config that decide what the subgraph has. */
interface FederatedSections extends FederationSections {
  readonly resolvers?: IResolvers | undefined
  readonly access?: { readonly fields?: Readonly<Record<string, object>> | undefined } | undefined
}

/**
 * Returns the source of what Apollo Federation asks of a subgraph, over all that the gateway has: `_service`,
 * and `_entities` where there are any.
 */
export function federationSource(config: FederatedSections): readonly Source[] {
  const { federation = false, resolvers } = config
  if (federation === false) return []
  const options = federation === true ? {} : federation
  return [
    {
      id: ID,
      fields: [],
      extend(schema) {
        const { entities, findings } = findEntities(schema, options, resolvers)
        const problems = [...findings, ...rulesPassedBy(schema, entities, config)]
        if (problems.length > 0) throw new ConfigError(problems)
        return asSubgraph(schema, entities, options)
      },
    },
  ]
}

function asSubgraph(
  schema: GraphQLSchema,
  entities: readonly Entity[],
  options: FederationConfig,
): GraphQLSchema {
  const sdlOf = keyed(
    (whole: GraphQLSchema) => subgraphSdl(whole, entities),
    new WeakMap<GraphQLSchema, string>(),
  )
  const service = new GraphQLObjectType({
    name: '_Service',
    description: 'The SDL of this subgraph, for routers.',
    fields: { sdl: { type: new GraphQLNonNull(GraphQLString) } },
  })
  const { headers, unknown } = describeVariesBy(schema)
  const variesBy = toVariesBy([...headers], unknown)
  const root = { parent: 'Query', origin: 'federation', extensions: { ...(variesBy && { variesBy }) } }
  const fields: ContributedField[] = [
    {
      ...root,
      name: '_service',
      type: new GraphQLNonNull(service),
      extensions: { dependsOn: [] },
      resolve: (_source, _args, _context, info) => ({ sdl: sdlOf(info.schema) }),
    },
  ]
  const resolvable = entities.filter(({ isResolvable }) => isResolvable)
  if (resolvable.length > 0) {
    const cost = { listSize: { slicingArguments: ['representations'] } }
    fields.push({
      ...root,
      name: '_entities',
      extensions: { ...root.extensions, cost },
      ...entitiesField(schema, resolvable, options),
    })
  }
  return mergeSources(schema, [{ id: ID, fields }]).schema
}

function entitiesField(
  schema: GraphQLSchema,
  entities: readonly Entity[],
  { maxReferences = 1_000 }: FederationConfig,
): Pick<ContributedField, 'args' | 'description' | 'resolve' | 'type'> {
  const byName = new Map(entities.map((entity) => [entity.typeName, entity]))
  const any = new GraphQLScalarType({ name: '_Any', description: 'A reference to an entity.' })
  /** Objects of sources do not say what they are. */
  const types = new WeakMap<object, string>()
  const union = new GraphQLUnionType({
    name: '_Entity',
    description: 'Entity types that other subgraphs can reference.',
    types: entities.map(({ typeName }) => schema.getType(typeName)).filter(isObjectType),
    resolveType: (value) => types.get(value as object),
  })

  function asEntity(value: unknown, typeName: string): unknown {
    if (typeof value !== 'object' || value === null || value instanceof Error) return value
    // One object may be asked for as two types.
    const own = { ...value }
    types.set(own, typeName)
    return own
  }

  async function resolveAll(
    typeName: string,
    references: readonly Reference[],
    context: unknown,
    info: GraphQLResolveInfo,
  ): Promise<readonly unknown[]> {
    const entity = byName.get(typeName)
    if (!entity) return references.map((reference) => noEntity(reference['__typename']))
    const { lookup, resolveReference } = entity
    if (lookup) return lookUp(lookup, references, context, info)
    if (!resolveReference) return references
    return resolveEach(references, async (reference) => resolveReference(reference, context, info))
  }

  return {
    description: 'Resolves references to entities, for routers.',
    type: new GraphQLNonNull(new GraphQLList(union)),
    args: { representations: { type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(any))) } },
    async resolve(_source, args, context, info) {
      const { representations } = args as { readonly representations: readonly unknown[] }
      if (representations.length > maxReferences)
        throw tooManyReferences(representations.length, maxReferences)
      const byType = new Map<string, { readonly at: number; readonly reference: Reference }[]>()
      for (const [at, given] of representations.entries()) {
        const reference = (typeof given === 'object' && given !== null ? given : {}) as Reference
        const typeName = String(reference['__typename'])
        const known = byType.get(typeName)
        if (known) known.push({ at, reference })
        else byType.set(typeName, [{ at, reference }])
      }
      const found: unknown[] = []
      await Promise.all(
        [...byType].map(async ([typeName, wanted]) => {
          const references = wanted.map(({ reference }) => reference)
          const values = await resolveAll(typeName, references, context, info)
          for (const [index, { at }] of wanted.entries()) found[at] = asEntity(values[index], typeName)
        }),
      )
      return found
    },
  }
}

/** Rules on a field by which entities are looked up, which do not stand on their type: `_entities` would go around them. */
function rulesPassedBy(
  schema: GraphQLSchema,
  entities: readonly Entity[],
  { access: { fields = {} } = {} }: FederatedSections,
): readonly Finding[] {
  const isRuled = (coordinate: string, extensions: Readonly<Record<string, unknown>>): boolean =>
    Object.hasOwn(fields, coordinate) || extensions['access'] !== undefined
  return entities.flatMap(({ typeName, lookup }) => {
    if (!lookup || Object.hasOwn(fields, 'Query._entities')) return []
    const coordinate = `Query.${lookup.field.name}`
    if (!isRuled(coordinate, lookup.field.extensions)) return []
    if (isRuled(typeName, schema.getType(typeName)?.extensions ?? {})) return []
    return [
      findingAt(
        ['federation'],
        `references to ${typeName} are resolved by ${coordinate}, but the access rule of ${coordinate} does not apply to Query._entities; put a rule on ${typeName} or on Query._entities`,
      ),
    ]
  })
}
