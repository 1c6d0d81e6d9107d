import type { DescMessage } from '@bufbuild/protobuf'
import type { SelectionScope } from '@vinyasa/source-kit'
import type { FieldNode, GraphQLField, GraphQLObjectType } from 'graphql'
import type { FieldShape } from '../contract/shapes.ts'
import type { CompiledField, JoinPlace, PlannableJoin } from './message-plan.ts'
import type { LeafOptions } from './reply-codecs.ts'

/** The joins of one operation, each once. */
export interface JoinPlans {
  hasAny(): boolean
  /** @throws NotPlannable */
  place(
    scope: SelectionScope,
    definition: GraphQLField<unknown, unknown>,
    join: PlannableJoin,
    nodes: readonly FieldNode[],
  ): JoinPlace
  /** A field of `parent` that a join resolves, as one that stands where its key does. @throws NotPlannable */
  field(
    scope: SelectionScope,
    parent: DescMessage,
    type: GraphQLObjectType,
    definition: GraphQLField<unknown, unknown>,
    join: PlannableJoin,
    nodes: readonly FieldNode[],
    options: LeafOptions,
  ): WrittenField
  /** A field of `parent` that another kind of source joins; undefined where there is none. @throws NotPlannable */
  shared(
    scope: SelectionScope,
    parent: DescMessage,
    type: GraphQLObjectType,
    definition: GraphQLField<unknown, unknown>,
    nodes: readonly FieldNode[],
    options: LeafOptions,
  ): WrittenField | undefined
}

/** How a field is written, under any response name; one that is joined stands where its key does. */
export interface WrittenField {
  readonly field: FieldShape
  readonly compiled: CompiledField
}
