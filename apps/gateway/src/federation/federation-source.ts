import { keyed, type Finding } from '@vinyasa/base'
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
} from 'graphql'
import type { IResolvers } from '@graphql-tools/utils'
import { ConfigError, findingAt } from '../errors.ts'
import { findEntities, type Entity } from './entities.ts'
import { noEntity, tooManyReferences } from './errors.ts'
import { lookUp, resolveEach, type Reference } from './lookup.ts'
import { subgraphSdl } from './subgraph-sdl.ts'
import type { FederationConfig, FederationSections } from './types.ts'

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
