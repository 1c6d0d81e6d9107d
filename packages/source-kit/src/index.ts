// For users.
export { type SourcesPlugin, useSources } from './use-sources.ts'
export {
  type ContributedArgument,
  type ContributedField,
  SchemaConflictError,
  type Source,
} from './schema/source.ts'
export { type SourceNames, SourceNamesError } from './naming/options.ts'
export { type AnswerLimits, answerSizeOf, endOfRead } from '@vinyasa/core/documents'
export type { PlanEvent } from './plan/plan-event.ts'

// For sources.
export { type BatchedJoin, createBatchedJoin, groupByKey, type ItemsByKey } from './joins/batched-join.ts'
export { askAll, type JoinCalls } from './joins/join-calls.ts'
export { isJoinKey, parentField, parentMember, type ReadParent, serializedKey } from './joins/parent-key.ts'
export { PlannedJoins } from './joins/planned-joins.ts'
export { SharedJoins, type SharedKey } from './joins/shared-joins.ts'
export { createSingleJoin } from './joins/single-join.ts'
export { fieldsBelow, type SelectionScope } from './plan/selection-scope.ts'
export {
  type FastPath,
  type JoinedJson,
  type JsonSize,
  type Prepared,
  type Selection,
  sharedOf,
  type Site,
  type Started,
} from './plan/fast-path.ts'
export { mergeRecorded, type Recorded, recordedRoot } from './plan/recorded.ts'
export { FallBack, NotPlannable } from './plan/refusals.ts'
export { type NamedSource, nameSource } from './naming/name-source.ts'
export { renamedStatements, type Meant } from './naming/statements.ts'
export { markMember, memberOf } from './own/members.ts'
export { fieldOf, memberIn, ownNameOf } from './own/names.ts'
export { ownIsTypeOf } from './answer/count-objects.ts'
export { asOwn, ResolverMarks, writtenType } from './own/stand-ins.ts'
export { markTeller, tellerOf } from './own/tellers.ts'
export { offerField, prepareJoin } from './plan/registry.ts'
export { createJsonScalar, exactLiteral, withoutBigInts } from './json/json-scalar.ts'
export { mergeSources } from './schema/merge-sources.ts'
export { prepareArguments, type Variables } from './plan/variables.ts'
export { groupBy } from './schema/group-by.ts'
export { typeIn } from './schema/type-of.ts'
export { parseInSlices } from './json/parse-in-slices.ts'
export { compileResultPath } from './templates/result-path.ts'
export { compileEntityId } from './templates/entity-id.ts'
export { headersOf, isOfConnection, refuseForwarded } from './forwarded-headers.ts'
export type { CallEnded } from './call-ended.ts'
