import type { ExecutionArgs, FieldNode, GraphQLField, OperationDefinitionNode } from 'graphql'
import type { JsonText } from '@vinyasa/core'
import type { AnswerSize } from '@vinyasa/core/documents'
import type { SelectionScope } from './selection-scope.ts'
import type { Recorded } from './recorded.ts'
import type { Variables } from './variables.ts'

/** Executes fields of one kind of source without resolvers. It serializes the results of calls directly to JSON. */
export interface FastPath {
  /**
   * Prepares the root fields of an operation that belong to this kind of source.
   * @throws NotPlannable
   */
  prepareRoots(selections: readonly Selection[], scope: SelectionScope): Prepared
  /**
   * Prepares a batched joined field below objects of another kind of source.
   * @throws NotPlannable
   */
  prepareJoin?(selection: Selection, scope: SelectionScope): PreparedJoin
}

/** Field that an operation selects. */
export interface Selection {
  /** Response name of the field. */
  readonly key: string
  readonly field: GraphQLField<unknown, unknown>
  readonly nodes: readonly FieldNode[]
}

/** One execution of a plan. */
export interface Site {
  /**
   * Whether the plan makes a single call and creates no other part of the response meanwhile. A size limit can
   * therefore not cancel that call.
   */
  readonly isOneCall: boolean
  /** Values that the parts of the plan share. See {@link sharedOf}. */
  readonly shared: Map<unknown, unknown>
  readonly operation: OperationDefinitionNode
  /** Variables of the operation. The object belongs to this execution only. */
  readonly variables: Variables
  readonly args: ExecutionArgs
  /** Size of the response so far. Each part must be counted before it is serialized. */
  readonly size: AnswerSize
}

/** Returns the value of `make` for an execution. It is created on first use and shared afterwards. */
export function sharedOf<T>(site: Site, make: (site: Site) => T): T {
  if (!site.shared.has(make)) site.shared.set(make, make(site))
  return site.shared.get(make) as T
}

/** Prepared root fields. */
export interface Prepared {
  start(site: Site): Started
  /** Whether the fields make exactly one call. */
  readonly isOneCall?: boolean
  /** Returns a variant for a single field that also writes the surrounding text. It saves a concatenation. */
  whole?(before: string, after: string): Prepared
}

export interface Started {
  /**
   * JSON of each field. Rejects with the error of a call, or with a `FallBack` if only graphql-js can produce the
   * response.
   */
  readonly json: Promise<readonly JsonText[]>
  /** Stops the plan from making calls and returns the calls already made, for graphql-js to reuse. */
  recorded(): Recorded
}

/** Prepared joined field. */
export interface PreparedJoin {
  /** Field of the parent that contains the key. */
  readonly parentKey: string
  start(site: Site): StartedJoin
}

export interface StartedJoin extends Pick<Started, 'recorded'> {
  /**
   * Loads the field for each key; null stands for a parent without a key. Rejects like `json`. Several places of the
   * operation can call it in the same tick, so collect the keys with `createJoinCalls`.
   */
  load(keys: readonly (string | null)[]): Promise<readonly JoinedJson[]>
}

/** Size of a part of a response. */
export interface JsonSize {
  /** Length of the JSON in bytes. The number of characters is sufficient for strings. */
  readonly length: number
  readonly objects: number
}

/** Joined field for a key. Its size is known before it is serialized, so parts over a limit are refused early. */
export interface JoinedJson extends JsonSize {
  /** Serializes the field. Called at most once. */
  json(): JsonText
}
