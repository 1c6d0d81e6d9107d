import {
  type DirectiveNode,
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
} from 'graphql'
import type { FieldCollector, Selected } from './collect-fields.ts'
import { toTypeShape, type TypeShape } from './type-shape.ts'

/** A field of one object type as an operation selects it: what is known of it before any of its values. */
export interface PlannedField {
  readonly key: string
  readonly nodes: readonly [FieldNode, ...FieldNode[]]
  readonly definition: GraphQLField<unknown, unknown>
  readonly shape: TypeShape
  /** The selections below it; empty for a leaf. */
  readonly below: Selections
}

/** One `@defer` fragment. The directive's node is the identity of the usage. */
export interface PlannedFragment {
  readonly usage: DirectiveNode
  readonly label: string | undefined
  readonly selections: Selections
}

/** The fields and fragments that are selected on one object type. */
export interface PlannedSelection {
  readonly fields: readonly PlannedField[]
  readonly deferred: readonly PlannedFragment[]
  /** See `Selected.sharedKeys`. */
  readonly sharedKeys: Selected['sharedKeys']
}

/** Selection sets that are read together, and what they select on each type: worked out once, kept beside them. */
export class Selections {
  readonly #schema: GraphQLSchema
  readonly #collector: FieldCollector
  readonly #sets: readonly SelectionSetNode[]
  readonly #ofTypes = new Map<GraphQLObjectType, PlannedSelection>()
  readonly #inlinedOfTypes = new Map<GraphQLObjectType, PlannedSelection>()
  #lastType: GraphQLObjectType | undefined
  #last: PlannedSelection | undefined

  constructor(schema: GraphQLSchema, collector: FieldCollector, sets: readonly SelectionSetNode[]) {
    this.#schema = schema
    this.#collector = collector
    this.#sets = sets
  }

  on(type: GraphQLObjectType): PlannedSelection {
    if (this.#last && type === this.#lastType) return this.#last
    let found = this.#ofTypes.get(type)
    if (!found) this.#ofTypes.set(type, (found = this.#plan(type, this.#collector.collect(this.#sets, type))))
    this.#lastType = type
    this.#last = found
    return found
  }

  /** The same with the fragments at this level in place, not deferred. */
  inlinedOn(type: GraphQLObjectType): PlannedSelection {
    let found = this.#inlinedOfTypes.get(type)
    if (!found) {
      found = this.#plan(type, this.#collector.collectInlined(this.#sets, type))
      this.#inlinedOfTypes.set(type, found)
    }
    return found
  }

  #plan(type: GraphQLObjectType, { groups, deferred, sharedKeys }: Selected): PlannedSelection {
    const below = (sets: readonly SelectionSetNode[]): Selections =>
      new Selections(this.#schema, this.#collector, sets)
    return {
      fields: groups.flatMap(({ key, nodes, selectionSets }) => {
        const definition = fieldOf(this.#schema, type, nodes[0].name.value)
        if (!definition) return []
        return { key, nodes, definition, shape: toTypeShape(definition.type), below: below(selectionSets) }
      }),
      deferred: deferred.map(({ usage, label, selectionSets }) => ({
        usage,
        label,
        selections: below(selectionSets),
      })),
      sharedKeys,
    }
  }
}

function fieldOf(
  schema: GraphQLSchema,
  type: GraphQLObjectType,
  name: string,
): GraphQLField<unknown, unknown> | undefined {
  if (name.startsWith('__')) {
    if (name === TypeNameMetaFieldDef.name) return TypeNameMetaFieldDef
    if (type === schema.getQueryType()) {
      if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef
      if (name === TypeMetaFieldDef.name) return TypeMetaFieldDef
    }
  }
  return type.getFields()[name]
}
