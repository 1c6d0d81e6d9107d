import {
  getNamedType,
  isAbstractType,
  isCompositeType,
  isObjectType,
  Kind,
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLSchema,
  type SelectionSetNode,
} from 'graphql'
import { entityTag, unidentifiedTag } from './tags.ts'

/** Finds the entities in a result of one document, without rewriting document or result. */
export interface EntityPlan {
  /** Tags of all entities in `data`: `User:1`, or `User:?` where no id field was selected. */
  tagsOf(data: unknown): readonly string[]
}

interface PlanNode {
  /** What an object here can be. */
  readonly types: Set<string>
  /** Response keys of `__typename` and of the id fields. */
  readonly typenameKeys: Set<string>
  readonly idKeys: Set<string>
  readonly children: Map<string, PlanNode>
  /** Named fragments merged into this node; each is merged once, however often it is spread. */
  readonly fragments: Set<string>
}

export function createEntityPlan(
  schema: GraphQLSchema,
  document: DocumentNode,
  idFields: readonly string[],
): EntityPlan {
  // Most strategies never ask for entities, so the plan is made on first use.
  let root: PlanNode | undefined
  return {
    tagsOf(data) {
      root ??= planDocument(schema, document, idFields)
      const tags = new Set<string>()
      if (isRecord(data)) collectChildren(root, data, tags)
      return [...tags]
    },
  }
}

function collect(node: PlanNode, value: unknown, tags: Set<string>): void {
  if (Array.isArray(value)) {
    for (const item of value) collect(node, item, tags)
    return
  }
  if (!isRecord(value)) return
  const typename = firstText(value, node.typenameKeys)
  const id = firstText(value, node.idKeys)
  for (const type of typename === undefined ? node.types : [typename]) {
    tags.add(id === undefined ? unidentifiedTag(type) : entityTag(type, id))
  }
  collectChildren(node, value, tags)
}

function collectChildren(node: PlanNode, value: Record<string, unknown>, tags: Set<string>): void {
  for (const [key, child] of node.children) collect(child, value[key], tags)
}

function firstText(value: Record<string, unknown>, keys: ReadonlySet<string>): string | undefined {
  for (const key of keys) {
    const member = value[key]
    if (typeof member === 'string' || typeof member === 'number') return String(member)
  }
  return undefined
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function createNode(): PlanNode {
  return {
    types: new Set(),
    typenameKeys: new Set(),
    idKeys: new Set(),
    children: new Map(),
    fragments: new Set(),
  }
}

function planDocument(schema: GraphQLSchema, document: DocumentNode, idFields: readonly string[]): PlanNode {
  const fragments = new Map<string, FragmentDefinitionNode>()
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition)
  }

  /** Fragments on any type are merged: a result that fits only some of them has fewer keys. */
  function plan(node: PlanNode, parent: GraphQLCompositeType, selectionSet: SelectionSetNode): void {
    for (const selection of selectionSet.selections) {
      if (selection.kind !== Kind.FIELD) {
        const isSpread = selection.kind === Kind.FRAGMENT_SPREAD
        if (isSpread && node.fragments.has(selection.name.value)) continue
        if (isSpread) node.fragments.add(selection.name.value)
        const fragment = isSpread ? fragments.get(selection.name.value) : selection
        const condition = fragment?.typeCondition && schema.getType(fragment.typeCondition.name.value)
        if (fragment) plan(node, isCompositeType(condition) ? condition : parent, fragment.selectionSet)
        continue
      }
      const name = selection.name.value
      const key = selection.alias?.value ?? name
      if (name === '__typename') node.typenameKeys.add(key)
      if (idFields.includes(name)) node.idKeys.add(key)
      const field = 'getFields' in parent ? parent.getFields()[name] : undefined
      const type = field && getNamedType(field.type)
      if (!selection.selectionSet || !isCompositeType(type)) continue
      let child = node.children.get(key)
      if (!child) node.children.set(key, (child = createNode()))
      if (isObjectType(type)) child.types.add(type.name)
      if (isAbstractType(type)) {
        for (const possible of schema.getPossibleTypes(type)) child.types.add(possible.name)
      }
      plan(child, type, selection.selectionSet)
    }
  }

  const root = createNode()
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue
    const rootType = schema.getRootType(definition.operation)
    if (rootType) plan(root, rootType, definition.selectionSet)
  }
  return root
}
