import { getDocumentNodeFromSchema } from '@graphql-tools/utils'
import {
  Kind,
  parse,
  print,
  visit,
  type ConstDirectiveNode,
  type DocumentNode,
  type GraphQLSchema,
  type ScalarTypeDefinitionNode,
} from 'graphql'
import type { Entity } from './entities.ts'
import { FEDERATION_DIRECTIVES, FEDERATION_URL } from './directives.ts'

/** Types that the subgraph itself adds, which routers know. */
const OWN: ReadonlySet<string> = new Set(['_Any', '_Entity', '_Service'])
const OWN_FIELDS: ReadonlySet<string> = new Set(['_entities', '_service'])
const KEPT: ReadonlySet<string> = new Set([...FEDERATION_DIRECTIVES, 'deprecated', 'specifiedBy', 'oneOf'])

/** The SDL of a subgraph: the whole schema, with the keys of its entities. */
export function subgraphSdl(schema: GraphQLSchema, entities: readonly Entity[]): string {
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
