import type { DescMethod } from '@bufbuild/protobuf'
import {
  createMutationEvents,
  readVerb,
  type InvalidationEvent,
  type MutationAnnouncer,
  type MutationOutcome,
} from '@vinyasa/invalidation'
import { getNullableType, GraphQLError, isObjectType, type GraphQLField, type GraphQLSchema } from 'graphql'
import type { Contract } from '../contract/contract.ts'
import { readerOfEntityId, requestIn, type Arguments, type ExposedMethod } from '../contract/methods.ts'
import { FAULTS } from '../runtime/faults.ts'
import { GrpcCallError } from '@vinyasa/grpc-transport'
import { memberOf, ownNameOf, type NamedSource } from '@vinyasa/source-kit'

/** A mutation's schema, and its field there. */
export interface MutationField {
  readonly schema: GraphQLSchema
  readonly field: GraphQLField<unknown, unknown> | undefined
}

/** Returns the events of a mutation that succeeded or whose outcome nobody knows (then without a result). */
export type Announcement = (
  args: Arguments,
  result: unknown,
  place: MutationField,
) => readonly InvalidationEvent[]

export interface MutationOptions extends Pick<Contract, 'typesMeant'> {
  readonly announcer: MutationAnnouncer
  readonly mutationEvents: ReturnType<typeof createMutationEvents>
  /** Returns the names that clients use for the source's types; not called before the schema is made. */
  readonly named: () => NamedSource
}

/** Reads off a mutation what it changes; its settings may say more, or that it is nothing. */
export function createAnnouncement(
  { desc, wrapRequest, settings: { invalidates } }: ExposedMethod,
  { mutationEvents, named: namesOf, typesMeant }: MutationOptions,
): Announcement {
  if (invalidates === false) return () => []
  const named = namesOf()
  const { operation, noun } = readVerb(desc.name)
  const meant = typesMeant(desc)
  const verb = { operation, noun: noun === undefined ? undefined : named.typeNamed(meant(noun)[0] ?? noun) }
  const inferred: Announcement = (args, result, place) => mutationEvents({ ...place, verb, args, result })
  if (invalidates === undefined) return inferred
  const rules = [invalidates].flat().flatMap((rule) =>
    [...new Set(meant(rule.entityType).flatMap(named.typesMeant))].map((entityType) => ({
      entityType,
      operation: rule.operation ?? verb.operation ?? 'update',
      isStated: rule.entityId !== undefined,
      idOf: readerOfEntityId(rule.entityId ?? '$.id'),
    })),
  )
  const stated = new Set(rules.map(({ entityType }) => entityType))
  return (args, result, place) => [
    ...rules.map(({ entityType, operation, isStated, idOf }) => ({
      entityType,
      operation,
      // An id that is not said to be the entity's is taken for it only where the result is the entity.
      entityId:
        isStated || isOfType(place, entityType) ? idOf(requestIn(args, wrapRequest), result) : undefined,
    })),
    // The types of the result have changed too, whatever else has.
    ...inferred({}, undefined, place).filter(
      ({ entityType }) => entityType !== '*' && !stated.has(entityType),
    ),
  ]
}

type AnnouncedCalls = <T>(desc: DescMethod, args: Arguments, call: () => Promise<T>) => Promise<T>

/**
 * Announces calls from code of methods that are mutations as fields. Their results are whole where fields may pluck, so
 * no id is read in them.
 */
export function createAnnouncedCalls(
  exposed: readonly ExposedMethod[],
  schema: GraphQLSchema,
  options: MutationOptions,
): AnnouncedCalls {
  return (desc, args, call) => {
    const method = exposed.find((candidate) => candidate.desc === desc && candidate.type === 'MUTATION')
    if (!method) return call()
    // What code gives is the request itself, whatever argument holds it in the field.
    const announcement = createAnnouncement({ ...method, wrapRequest: undefined }, options)
    const name = options.named().fieldNamed('Mutation', method.name)
    const field = name === undefined ? undefined : schema.getMutationType()?.getFields()[name]
    const place = { schema, field }
    return options.announcer.run({ call, outcomeOf, changes: () => announcement(args, undefined, place) })
  }
}

function isOfType({ field }: MutationField, typeName: string): boolean {
  const type = field && getNullableType(field.type)
  return isObjectType(type) && type.name === typeName
}

/** Returns what a mutation that ended with this error has done. */
export function outcomeOf(error: unknown): MutationOutcome {
  if (!(error instanceof GraphQLError)) return 'unknown'
  const { cause, extensions } = error
  if (cause instanceof GrpcCallError) return cause.wasSent ? FAULTS[cause.status].outcome : 'refused'
  // An error that was raised before anything was sent, about an argument or a header, has no gRPC status.
  return extensions['grpc'] === undefined ? 'refused' : 'unknown'
}

/** Events of mutations whose results are decoded messages, whatever clients call the fields that show them. */
export function createMessageEvents(): ReturnType<typeof createMutationEvents> {
  return createMutationEvents({
    read(result, field) {
      const key = memberOf(field) ?? ownNameOf(field)
      return Object.hasOwn(result, key) ? (result as Readonly<Record<string, unknown>>)[key] : undefined
    },
  })
}
