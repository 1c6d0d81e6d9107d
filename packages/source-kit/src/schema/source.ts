import type {
  GraphQLArgumentConfig,
  GraphQLFieldConfig,
  GraphQLInputType,
  GraphQLOutputType,
  GraphQLSchema,
} from 'graphql'
import type { PlanEvent } from '../plan/plan-event.ts'

/** A source of fields, which it puts into a server's schema and answers for. */
export interface Source {
  /** Tells its fields from those of all other sources: it is their `extensions.source`. */
  readonly id: string
  /** Types and fields that are made already. Object types of one name get the fields of both. */
  readonly schema?: GraphQLSchema | undefined
  /** Fields on types of any source, by name. One waits until its parent and all types that it names are there. */
  readonly fields: readonly ContributedField[]
  /** Object types that the fields may be put on although nobody else has them, with their descriptions. */
  readonly types?: ReadonlyMap<string, string | undefined> | undefined
  /** Adds to the schema what can only be said once all sources are in it; asked again where a source has changed. */
  extend?(schema: GraphQLSchema): GraphQLSchema
  /** Is told each schema of the server that has the source, with all that is stated there. */
  onSchema?(schema: GraphQLSchema): void
  /** Is told of plans. */
  readonly onPlan?: ((event: PlanEvent) => void) | undefined
  /** Tells that `schema` and `fields` are others now; the returned function ends that. */
  onChange?(listener: () => void): () => void
}

/**
 * A field that a source adds to a type. `Query`, `Mutation` and `Subscription` stand for the server's root types. Its
 * `extensions` tell behaviours what they need: `liveQuery`, `changes`, `dependsOn`, `variesBy`.
 */
export interface ContributedField extends Pick<
  GraphQLFieldConfig<unknown, unknown>,
  'deprecationReason' | 'description' | 'extensions' | 'resolve' | 'subscribe'
> {
  readonly parent: string
  readonly name: string
  /** In SDL, like `[User!]!`, or made already. */
  readonly type: string | GraphQLOutputType
  readonly args?: Readonly<Record<string, string | ContributedArgument>> | undefined
  /** The place where the field comes from, as a person would say it. */
  readonly origin: string
  /** Fields of the parent that the resolver reads. */
  readonly requires?: readonly string[] | undefined
  /** `parent`, `name` and `requires` are the server's, whatever the source's own types are called there. Default false. */
  readonly isJoin?: boolean | undefined
}

/** An argument of a contributed field; its type is in SDL, or made already. */
export interface ContributedArgument extends Omit<GraphQLArgumentConfig, 'type'> {
  readonly type: string | GraphQLInputType
}

/** Sources and schema do not fit together. Thrown by the server's constructor, or where its first request comes. */
export class SchemaConflictError extends Error {
  override readonly name = 'SchemaConflictError'
  readonly code = 'SCHEMA_CONFLICT'
  /** Where what does not fit comes from, as its sources say; the last one is what was added. */
  readonly origins: readonly string[]

  constructor(message: string, origins: readonly string[] = []) {
    super(message)
    this.origins = origins
  }
}
