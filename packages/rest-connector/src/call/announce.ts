import { createMutationEvents, readVerb, type InvalidationEvent } from '@vinyasa/invalidation'
import type { GraphQLField, GraphQLSchema } from 'graphql'
import type { CompiledEndpoint } from '../declare/endpoint.ts'
import { atPlace, RestConfigError } from '../errors.ts'
import { compileEntityId, type NamedSource } from '@vinyasa/source-kit'
import type { InvalidationTemplate } from '../declare/endpoint-options.ts'
import { responseMember } from '../declare/members.ts'
import type { Args } from '../templates/template.ts'

/** The field that a mutation endpoint is, and the schema that has it. */
export interface MutationField {
  readonly schema: GraphQLSchema
  readonly field: GraphQLField<unknown, unknown> | undefined
}

/** Returns the events that a mutation's call announces, given its arguments and its result, if one came. */
export type Announcement = (
  args: Args,
  result: unknown,
  place: MutationField | undefined,
) => readonly InvalidationEvent[]

const ANYTHING: readonly InvalidationEvent[] = [{ entityType: '*', operation: '*' }]

export function compileAnnouncement(
  { declared, isMutation, envelope }: CompiledEndpoint,
  named: () => Pick<NamedSource, 'typeNamed' | 'typesMeant'>,
): Announcement {
  const { invalidates, name, method } = declared
  if (!isMutation || invalidates === false) return () => []
  const { operation = method === 'DELETE' ? 'delete' : undefined, noun } = readVerb(name)
  // Members of the response have the names of the API; a field that is resolved otherwise has none.
  const mutationEvents = createMutationEvents({
    read: (source, field) => responseMember(field)?.read(source),
  })
  const inferred: Announcement = (args, result, place) =>
    place
      ? mutationEvents({
          ...place,
          verb: { operation, noun: noun === undefined ? undefined : named().typeNamed(noun) },
          args,
          result,
        })
      : ANYTHING
  if (invalidates === undefined) return inferred
  const templates = invalidates.map((template, index) =>
    atPlace(['invalidates', index], () => compileTemplate(template)),
  )
  return (args, result, place) => {
    const events = templates
      .map((fill) => fill(args, envelope ? bodyOf(result) : result))
      .flatMap((event) =>
        named()
          .typesMeant(event.entityType)
          .map((entityType) => ({ ...event, entityType })),
      )
    const stated = new Set(events.map(({ entityType }) => entityType))
    return [
      ...events,
      // The types of the result have changed too, whatever else has.
      ...inferred({}, undefined, place).filter(
        ({ entityType }) => entityType !== '*' && !stated.has(entityType),
      ),
    ]
  }
}

/** Paths of templates are into the answer. */
function bodyOf(result: unknown): unknown {
  return typeof result === 'object' && result !== null && 'body' in result ? result.body : result
}

function compileTemplate(template: InvalidationTemplate): (args: Args, result: unknown) => InvalidationEvent {
  const { entityType, operation, entityId } = template
  if (!entityType || !operation)
    throw new RestConfigError('each entry of invalidates needs entityType and operation')
  const wrong = (problem: string): RestConfigError =>
    new RestConfigError(`invalidates.entityId ${problem}`, { path: ['entityId'] })
  const idOf = entityId === undefined ? undefined : compileEntityId(entityId, wrong)
  return (args, result) => {
    const id = idOf?.(args, result)
    return { entityType, operation, ...(id !== undefined && { entityId: id }) }
  }
}
