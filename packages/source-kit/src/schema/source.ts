import type {
  GraphQLArgumentConfig,
  GraphQLFieldConfig,
  GraphQLInputType,
  GraphQLOutputType,
  GraphQLSchema,
} from 'graphql'
import type { PlanEvent } from '../plan/plan-event.ts'

/** Source of types and fields for the schema of a server. */
export interface Source {
  /** Unique id of the source. Its fields have it as `extensions.source`. */
  readonly id: string
  /** Types and fields that exist as a `GraphQLSchema`. Object types with the same name are merged. */
  readonly schema?: GraphQLSchema | undefined
  /** Fields to add to types of any source. A field is added once its parent and all types that it names exist. */
  readonly fields: readonly ContributedField[]
  /** Object types that the source creates if no other source has them, with their descriptions. */
  readonly types?: ReadonlyMap<string, string | undefined> | undefined
  /** Changes the schema after all sources were added. Called again when a source changes. */
  extend?(schema: GraphQLSchema): GraphQLSchema
  /** Receives each schema of the server, with all declarations. */
  onSchema?(schema: GraphQLSchema): void
  /** Receives plan events. */
  readonly onPlan?: ((event: PlanEvent) => void) | undefined
  /** Registers a listener for changes of `schema` and `fields`. Returns a function that removes it. */
  onChange?(listener: () => void): () => void
}

/**
 * Field that a source adds to a type. The parents `Query`, `Mutation` and `Subscription` are the server's root types.
 * Its `extensions` contain declarations for other plugins: `liveQuery`, `changes`, `dependsOn` and `variesBy`.
 */
export interface ContributedField extends Pick<
  GraphQLFieldConfig<unknown, unknown>,
  'deprecationReason' | 'description' | 'extensions' | 'resolve' | 'subscribe'
> {
  readonly parent: string
  readonly name: string
  /** Type in SDL, such as `[User!]!`, or a GraphQL type. */
  readonly type: string | GraphQLOutputType
  readonly args?: Readonly<Record<string, string | ContributedArgument>> | undefined
  /** Origin of the field, for people. Error messages show it. */
  readonly origin: string
  /** Fields of the parent that the resolver reads. */
  readonly requires?: readonly string[] | undefined
  /** Whether `parent`, `name` and `requires` are names of the server rather than of the source. Default false. */
  readonly isJoin?: boolean | undefined
}

/** Argument of a contributed field. Its type is in SDL or a GraphQL type. */
export interface ContributedArgument extends Omit<GraphQLArgumentConfig, 'type'> {
  readonly type: string | GraphQLInputType
}

/** Thrown if sources and schema conflict, by the server's constructor or at its first request. */
export class SchemaConflictError extends Error {
  override readonly name = 'SchemaConflictError'
  readonly code = 'SCHEMA_CONFLICT'
  /** Origins of the conflicting parts. The last origin is the part that could not be added. */
  readonly origins: readonly string[]

  constructor(message: string, origins: readonly string[] = []) {
    super(message)
    this.origins = origins
  }
}
