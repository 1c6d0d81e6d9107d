import type { DescMessage } from '@bufbuild/protobuf'
import { isObjectType, type GraphQLFieldConfig, type GraphQLSchema } from 'graphql'
import type { Contract, ContractOptions } from '../contract/contract.ts'
import type { Entity } from '../mapping/federation.ts'
import { parentMember } from '@vinyasa/source-kit'
import { createJoinField, type JoinContext } from './joins.ts'
import type { ExposedMethod } from '../contract/methods.ts'
import type { FederationOptions } from '../options.ts'

/** The entities among a schema's types, each with the join that resolves references to it. */
export function findEntities(
  schema: GraphQLSchema,
  { registry, annotations }: ContractOptions,
  { names, exposed }: Contract,
  federation: FederationOptions,
  context: JoinContext,
): Entity[] {
  const entities: Entity[] = []
  for (const message of registry) {
    if (message.kind !== 'message') continue
    const annotation = annotations.entity(message)
    if (!annotation?.keys?.length) continue
    const typeName = names.of(message)
    if (!isObjectType(schema.getType(typeName))) continue
    const field = entityField(message, typeName, annotation.keys)
    if (!field && annotation.resolvable === true)
      context.findings.push({
        file: message.file.proto.name,
        element: message.typeName,
        message: `is an entity, but this source cannot resolve it; expose a QUERY or RESOLVER method that accepts the key "${annotation.keys[0]}" and returns ${typeName}, set federation.entities["${typeName}"] to a valid join, or set resolvable: false`,
      })
    entities.push({ typeName, field })
  }
  return entities

  function entityField(
    message: DescMessage,
    typeName: string,
    keys: readonly string[],
  ): GraphQLFieldConfig<unknown, unknown> | undefined {
    const path = ['federation', 'entities', typeName]
    const declared = federation.entities?.[typeName]
    if (declared)
      return createJoinField({ ...declared, type: '_Entity', field: typeName }, path, context, parentMember)
    const keyFields = (keys[0] ?? '').split(/\s+/)
    const inputs = (method: ExposedMethod): string[] =>
      context.shapes.message(method.desc.input).fields.map(({ name }) => name)
    const method = exposed.find((candidate) => {
      const { responsePluck, desc, type } = candidate
      const result =
        responsePluck?.fieldKind === 'message'
          ? responsePluck.message
          : responsePluck
            ? undefined
            : desc.output
      const isRead = type === 'QUERY' || type === 'RESOLVER'
      return isRead && result === message && keyFields.every((key) => inputs(candidate).includes(key))
    })
    if (!method) return undefined
    const request = Object.fromEntries(keyFields.map((key) => [key, key]))
    return createJoinField(
      { type: '_Entity', field: typeName, method: method.id, request },
      path,
      context,
      parentMember,
    )
  }
}
