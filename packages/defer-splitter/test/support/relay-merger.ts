import {
  type ArgumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  getNamedType,
  getNullableType,
  type GraphQLCompositeType,
  type GraphQLSchema,
  isCompositeType,
  isListType,
  isObjectType,
  Kind,
  type NamedTypeNode,
  type OperationDefinitionNode,
  parse,
  print,
  type SelectionNode,
  type SelectionSetNode,
  TypeInfo,
  valueFromASTUntyped,
  visit,
  visitWithTypeInfo,
} from 'graphql'
import {
  createOperationDescriptor,
  Environment,
  Network,
  Observable,
  RecordSource,
  Store,
} from 'relay-runtime'
import { onTestFinished, vi } from 'vitest'

/** A query as Relay's compiler sends it: `__typename` and `id` everywhere, and a label of its own for each `@defer`. */
export function toRelayText(schema: GraphQLSchema, text: string): string {
  const types = new TypeInfo(schema)
  const named = (value: string): FieldNode => ({ kind: Kind.FIELD, name: { kind: Kind.NAME, value } })
  return print(
    visit(
      parse(text),
      visitWithTypeInfo(types, {
        SelectionSet(node) {
          const type = types.getParentType()
          const added = [named('__typename')]
          if (type && 'getFields' in type && type.getFields()['id']) added.push(named('id'))
          return { ...node, selections: [...added, ...node.selections] }
        },
        Directive(node) {
          if (node.name.value !== 'defer') return undefined
          const label: ArgumentNode = {
            kind: Kind.ARGUMENT,
            name: { kind: Kind.NAME, value: 'label' },
            value: { kind: Kind.STRING, value: `Query$defer$at${node.loc?.start}` },
          }
          const others = node.arguments?.filter(({ name }) => name.value !== 'label') ?? []
          return { ...node, arguments: [label, ...others] }
        },
      }),
    ),
  )
}

/** What Relay's compiler makes of such a text, named fragments written out where they are spread. */
function compile(schema: GraphQLSchema, text: string) {
  const { definitions } = parse(text)
  const operation = definitions.find(({ kind }) => kind === Kind.OPERATION_DEFINITION)
  const fragments = new Map<string, FragmentDefinitionNode>()
  for (const one of definitions) if (one.kind === Kind.FRAGMENT_DEFINITION) fragments.set(one.name.value, one)

  function below(type: GraphQLCompositeType, { selections }: SelectionSetNode): readonly object[] {
    return selections.map((selection) => {
      const node =
        selection.kind === Kind.FIELD
          ? field(type, selection)
          : fragment(type, selection, selection.kind === Kind.INLINE_FRAGMENT ? selection : named(selection))
      return conditional(selection, node)
    })
  }

  function named({ name }: { readonly name: { readonly value: string } }): FragmentDefinitionNode {
    const definition = fragments.get(name.value)
    if (!definition) throw new Error(`No fragment ${name.value}`)
    return definition
  }

  function fragment(
    parent: GraphQLCompositeType,
    usage: SelectionNode,
    {
      typeCondition,
      selectionSet,
    }: { readonly typeCondition?: NamedTypeNode | undefined; readonly selectionSet: SelectionSetNode },
  ): object {
    const type = typeCondition ? schema.getType(typeCondition.name.value) : parent
    if (!isCompositeType(type)) throw new Error(`No type ${typeCondition?.name.value}`)
    // Abstract types are refined to object types only, which need no key of their own in the answer.
    if (type !== parent && !isObjectType(type)) throw new Error(`${parent.name} is refined to ${type.name}`)
    const selections = deferred(usage, below(type, selectionSet))
    return { kind: 'InlineFragment', type: type.name, abstractKey: null, selections, always: type === parent }
  }

  function field(parent: GraphQLCompositeType, node: FieldNode): object {
    const name = node.name.value
    const args = (node.arguments ?? []).map((argument) => ({
      kind: 'Literal',
      name: argument.name.value,
      value: valueFromASTUntyped(argument.value),
    }))
    const alias = node.alias?.value ?? null
    const common = { alias, args: args.length > 0 ? args : null, name, storageKey: null }
    if (name === '__typename' || !('getFields' in parent)) return { ...common, kind: 'ScalarField' }
    const type = parent.getFields()[name]?.type
    const inner = type && getNamedType(type)
    if (!isCompositeType(inner) || !node.selectionSet) return { ...common, kind: 'ScalarField' }
    return {
      ...common,
      kind: 'LinkedField',
      concreteType: isObjectType(inner) ? inner.name : null,
      plural: isListType(getNullableType(type)),
      selections: below(inner, node.selectionSet),
    }
  }

  const root = schema.getQueryType()
  if (!root) throw new Error('The schema has no queries')
  const selections = unwrapped(below(root, (operation as OperationDefinitionNode).selectionSet))
  const { variableDefinitions = [] } = operation as OperationDefinitionNode
  const argumentDefinitions = variableDefinitions.map(({ variable, defaultValue }) => ({
    kind: 'LocalArgument',
    name: variable.name.value,
    defaultValue: defaultValue ? valueFromASTUntyped(defaultValue) : null,
  }))
  const fragmentOf = { argumentDefinitions, kind: 'Fragment', metadata: null, abstractKey: null }
  return {
    kind: 'Request',
    fragment: { ...fragmentOf, name: 'Merged', selections, type: root.name },
    operation: { argumentDefinitions, kind: 'Operation', name: 'Merged', selections },
    params: { cacheID: text, id: null, metadata: {}, name: 'Merged', operationKind: 'query', text },
  }
}

/** The selections of fragments that apply to every object stand in their parent's. */
function unwrapped(selections: readonly any[]): readonly object[] {
  return selections.flatMap(({ always, ...node }) => {
    const inner = node.selections && unwrapped(node.selections)
    if (always) return inner
    return [inner ? { ...node, selections: inner } : node]
  })
}

function deferred(usage: SelectionNode, selections: readonly object[]): readonly object[] {
  const directive = usage.directives?.find(({ name }) => name.value === 'defer')
  if (!directive) return selections
  const given = (wanted: string) => directive.arguments?.find(({ name }) => name.value === wanted)?.value
  const condition = given('if')
  const label = given('label')
  return [
    {
      kind: 'Defer',
      if: condition?.kind === Kind.VARIABLE ? condition.name.value : null,
      label: label?.kind === Kind.STRING ? label.value : null,
      selections,
    },
  ]
}

function conditional(usage: SelectionNode, node: object): object {
  const directive = usage.directives?.find(({ name }) => name.value === 'skip' || name.value === 'include')
  const condition = directive?.arguments?.[0]?.value
  if (condition?.kind !== Kind.VARIABLE) return node
  return {
    kind: 'Condition',
    condition: condition.name.value,
    passingValue: directive?.name.value === 'include',
    selections: [node],
  }
}

/**
 * Relay wants each patch as a result of its own, with label and place at the top; the very last one is final. One
 * without data, of a fragment that failed, would end the whole query.
 */
function* toRelayResults(parts: readonly any[]): Generator<any> {
  const results = parts.flatMap(({ data, errors, incremental = [] }) =>
    data === undefined ? incremental : [{ data, ...(errors && { errors }) }, ...incremental],
  )
  const kept = results.filter(({ data }) => data !== null)
  for (const [index, result] of kept.entries()) {
    yield { ...result, extensions: { is_final: index === kept.length - 1 } }
  }
}

/** Until the test ends: it warns of what the tests mean, roots of several names, and answers that came whole. */
export function quietRelay(): void {
  const silenced = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  onTestFinished(() => silenced.mockRestore())
}

/** Feeds Relay's own executor and store, and reads the query from the store. */
export function mergeWithRelay(
  schema: GraphQLSchema,
  text: string,
  variables: Readonly<Record<string, unknown>>,
  parts: readonly any[],
): { readonly data: any; readonly error: Error | undefined } {
  const environment = new Environment({
    network: Network.create(() =>
      Observable.create((sink) => {
        for (const result of toRelayResults(structuredClone([...parts]))) sink.next(result)
        sink.complete()
      }),
    ),
    store: new Store(new RecordSource()),
  })
  const operation = createOperationDescriptor(compile(schema, text) as any, variables)
  environment.retain(operation)
  let failure: Error | undefined
  let isDone = false
  environment.execute({ operation }).subscribe({
    complete: () => (isDone = true),
    error: (error: Error) => (failure = error),
  })
  if (!isDone && !failure) throw new Error('Relay still waits for something')
  // Relay reads what is absent as undefined.
  return {
    data: JSON.parse(JSON.stringify(environment.lookup(operation.fragment).data)),
    error: failure,
  }
}
