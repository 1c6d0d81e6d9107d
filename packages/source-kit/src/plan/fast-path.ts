import type { ExecutionArgs, FieldNode, GraphQLField, OperationDefinitionNode } from 'graphql'
import type { JsonText } from '@vinyasa/base'
import type { AnswerSize } from '@vinyasa/yoga-internals'
import type { SelectionScope } from './selection-scope.ts'
import type { Recorded } from './recorded.ts'
import type { Variables } from './variables.ts'

/** How a kind of source answers fields without their resolvers: from the calls it makes straight to JSON. */
export interface FastPath {
  /** Takes the root fields that an operation has of this kind of source. @throws NotPlannable */
  prepareRoots(selections: readonly Selection[], scope: SelectionScope): Prepared
  /** Takes a batched joined field below objects of another kind of source. @throws NotPlannable */
  prepareJoin?(selection: Selection, scope: SelectionScope): PreparedJoin
}

/** A field, as an operation selects it. */
export interface Selection {
  /** The response name. */
  readonly key: string
  readonly field: GraphQLField<unknown, unknown>
  readonly nodes: readonly FieldNode[]
}

/** One execution of a plan. */
export interface Site {
  /** Nothing else of the answer is made while a call is under way: no refusal can end it. */
  readonly isOneCall: boolean
  /** The values that the parts of a plan share: {@link sharedOf}. */
  readonly shared: Map<unknown, unknown>
  readonly operation: OperationDefinitionNode
  /** An object of this execution alone. */
  readonly variables: Variables
  readonly args: ExecutionArgs
  /**
   * The size of the answer so far: those who write parts of it hold each against it, before they write it.
   */
  readonly size: AnswerSize
}

/** Returns what `make` makes of an execution: made for the first who asks, and the same for all others. */
export function sharedOf<T>(site: Site, make: (site: Site) => T): T {
  if (!site.shared.has(make)) site.shared.set(make, make(site))
  return site.shared.get(make) as T
}

/** Root fields, ready to be called. */
export interface Prepared {
  start(site: Site): Started
  /** It makes one call, and no more after that. */
  readonly isOneCall?: boolean
  /** For a single field: writes the text around it too, which spares putting the two together. */
  whole?(before: string, after: string): Prepared
}

export interface Started {
  /** The JSON of each field. Rejects, with a `FallBack` or what a call failed with, where it is not for a plan to say. */
  readonly json: Promise<readonly JsonText[]>
  /** Ends it: nothing more is called. Tells what was, for the ordinary execution that takes over. */
  recorded(): Recorded
}

/** A joined field, ready to be called. */
export interface PreparedJoin {
  /** The parent's field that is its key. */
  readonly parentKey: string
  start(site: Site): StartedJoin
}

export interface StartedJoin extends Pick<Started, 'recorded'> {
  /**
   * The field for each key; null: the parent has none. Rejects as `json` does. It may be asked several times in
   * one turn, also by other places of the operation that select the field: `createJoinCalls` gathers their keys.
   */
  load(keys: readonly (string | null)[]): Promise<readonly JoinedJson[]>
}

/** How large a part of an answer is. */
export interface JsonSize {
  /** Bytes of its JSON; of text characters, which are no more. */
  readonly length: number
  readonly objects: number
}

/** A joined field for a key. It is measured before it is written: what is too large is known while little is held. */
export interface JoinedJson extends JsonSize {
  /** Writes it. Called once at most. */
  json(): JsonText
}
