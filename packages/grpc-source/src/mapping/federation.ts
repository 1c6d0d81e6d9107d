import { printSchemaWithDirectives } from '@graphql-tools/utils'
import { mergeSources, type ContributedField } from '@vinyasa/source-kit'
import {
  GraphQLError,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLScalarType,
  type GraphQLSchema,
  GraphQLString,
  GraphQLUnionType,
  type GraphQLFieldConfig,
  type GraphQLResolveInfo,
} from 'graphql'
import type { EntityAnnotation, FieldAnnotation } from '../contract/annotations.ts'

type Reference = Readonly<Record<string, unknown>>
type SubgraphOptions = Pick<ContributedField, 'extensions' | 'origin'> & { readonly id: string }
type EntityField = GraphQLFieldConfig<unknown, unknown>

const LINK = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@external", "@requires", "@provides", "@shareable"])\n\n`

/** An entity: a message with keys, and the field that resolves references to it. */
export interface Entity {
  /** That of an object type of the schema. */
  readonly typeName: string
  /** Undefined where the entity cannot be resolved here. */
  readonly field: EntityField | undefined
}

/** The directives of an entity's type, for the subgraph's SDL. */
export function entityDirectives(entity: EntityAnnotation | undefined): Record<string, unknown> {
  if (!entity?.keys?.length) return {}
  const isResolvable = entity.resolvable !== false || entity.extend !== true
  return {
    directives: {
      key: entity.keys.map((fields) => ({ fields, ...(isResolvable ? {} : { resolvable: false }) })),
    },
  }
}

/** The directives of a field, for the subgraph's SDL. */
export function fieldDirectives(annotation: FieldAnnotation): Record<string, unknown> {
  const { external, requires, provides, shareable } = annotation
  const directives = {
    ...(external ? { external: [{}] } : {}),
    ...(requires ? { requires: [{ fields: requires }] } : {}),
    ...(provides ? { provides: [{ fields: provides }] } : {}),
    ...(shareable ? { shareable: [{}] } : {}),
  }
  return Object.keys(directives).length === 0 ? {} : { directives }
}

/** Adds what Apollo's federation asks of a subgraph: `_service` and, where there are entities, `_entities`. */
export function toSubgraph(
  schema: GraphQLSchema,
  entities: readonly Entity[],
  { id, origin, extensions }: SubgraphOptions,
): GraphQLSchema {
  const sdl = LINK + printSchemaWithDirectives(schema)
  const service = new GraphQLObjectType({ name: '_Service', fields: { sdl: { type: GraphQLString } } })
  const root = { parent: 'Query', origin, extensions }
  const fields: ContributedField[] = [
    { ...root, name: '_service', type: new GraphQLNonNull(service), resolve: () => ({ sdl }) },
  ]
  const types = entities.map(({ typeName }) => schema.getType(typeName) as GraphQLObjectType)
  if (types.length > 0) {
    const cost = { listSize: { slicingArguments: ['representations'] } }
    fields.push({
      ...root,
      name: '_entities',
      extensions: { ...extensions, cost },
      ...entitiesField(types, entities),
    })
  }
  return mergeSources(schema, [{ id, fields }]).schema
}

function entitiesField(
  types: readonly GraphQLObjectType[],
  entities: readonly Entity[],
): Pick<ContributedField, 'args' | 'resolve' | 'type'> {
  const byName = new Map(entities.map((entity) => [entity.typeName, entity]))
  const any = new GraphQLScalarType({ name: '_Any', description: 'A reference to an entity.' })
  const union = new GraphQLUnionType({ name: '_Entity', types: [...types] })

  async function resolve(reference: Reference, context: unknown, info: GraphQLResolveInfo): Promise<unknown> {
    const typeName = String(reference['__typename'])
    const field = byName.get(typeName)?.field
    if (!field?.resolve) {
      // There is an error for each reference.
      throw new GraphQLError(`this subgraph does not resolve an entity "${typeName.slice(0, 120)}"`, {
        extensions: { code: 'BAD_USER_INPUT' },
      })
    }
    const value: unknown = await field.resolve(reference, {}, context, info)
    return typeof value === 'object' && value !== null ? { ...value, __typename: typeName } : null
  }

  return {
    type: new GraphQLNonNull(new GraphQLList(union)),
    args: { representations: { type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(any))) } },
    // All at once, so that references to one type are one batch.
    resolve: (_source, args, context, info) =>
      (args as { readonly representations: readonly Reference[] }).representations.map((reference) =>
        resolve(reference, context, info),
      ),
  }
}
