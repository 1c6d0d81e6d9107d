import {
  DirectiveLocation,
  GraphQLBoolean,
  GraphQLDirective,
  GraphQLInt,
  GraphQLNonNull,
  GraphQLSchema,
  Kind,
  visit,
  type ASTNode,
  type DocumentNode,
  type OperationDefinitionNode,
  type ValueNode,
} from 'graphql'

/** `directive @live(if: Boolean! = true, throttle: Int) on QUERY` */
export const GraphQLLiveDirective: GraphQLDirective = new GraphQLDirective({
  name: 'live',
  description: 'Sends the complete result again whenever the data behind it changes.',
  locations: [DirectiveLocation.QUERY],
  args: {
    if: {
      type: new GraphQLNonNull(GraphQLBoolean),
      defaultValue: true,
      description: 'An ordinary query when false.',
    },
    throttle: {
      type: GraphQLInt,
      description: 'Least milliseconds between two updates; the server may ask for more.',
    },
  },
})

/** The schema with `@live` in it; the same one if it has that already. */
export function addLiveDirective(schema: GraphQLSchema): GraphQLSchema {
  if (schema.getDirective('live')) return schema
  const config = schema.toConfig()
  return new GraphQLSchema({ ...config, directives: [...config.directives, GraphQLLiveDirective] })
}

/** Whether any operation of the document carries `@live`, whatever its `if`. */
export function hasLiveDirective(document: DocumentNode): boolean {
  return document.definitions.some(
    (definition) =>
      definition.kind === Kind.OPERATION_DEFINITION &&
      definition.directives?.some((directive) => directive.name.value === 'live') === true,
  )
}

/** What the operation's `@live` says; `undefined` when it has none or `if` is false. */
export function liveDirectiveValues(
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): { readonly throttleMs: number | undefined } | undefined {
  const directive = operation.directives?.find(({ name }) => name.value === 'live')
  if (!directive) return undefined
  // Read here, since `getDirectiveValues` takes variables of another shape on each version of graphql.
  const argument = (name: string): unknown => {
    const node = directive.arguments?.find((given) => given.name.value === name)?.value
    if (node?.kind !== Kind.VARIABLE) return literal(node)
    const given = variables[node.name.value]
    if (given !== undefined) return given
    const named = node.name.value
    const definition = operation.variableDefinitions?.find(({ variable }) => variable.name.value === named)
    return literal(definition?.defaultValue)
  }
  if (argument('if') === false) return undefined
  const throttle = argument('throttle')
  return { throttleMs: typeof throttle === 'number' ? Math.max(0, throttle) : undefined }
}

function literal(node: ValueNode | undefined): unknown {
  if (node?.kind === Kind.BOOLEAN) return node.value
  return node?.kind === Kind.INT ? Number(node.value) : undefined
}

const NAMES = new Set(['live', 'defer', 'stream'])

/**
 * The document without `@live`, and without `@defer` and `@stream`, which have no meaning where every update is a
 * complete result. Variables that nothing but these used are not declared any more: it validates as the document did.
 */
export function stripLiveDirective(document: DocumentNode): DocumentNode {
  const released = new Set<string>()
  const stripped: DocumentNode = visit(document, {
    Directive(node) {
      if (!NAMES.has(node.name.value)) return undefined
      for (const { value } of node.arguments ?? []) {
        if (value.kind === Kind.VARIABLE) released.add(value.name.value)
      }
      return null
    },
  })
  if (released.size === 0) return stripped
  const definitions = stripped.definitions.map((definition) => {
    if (definition.kind !== Kind.OPERATION_DEFINITION) return definition
    const used = variablesUsedBy(definition, stripped)
    const variableDefinitions = definition.variableDefinitions?.filter(
      ({ variable: { name } }) => !released.has(name.value) || used.has(name.value),
    )
    return { ...definition, ...(variableDefinitions && { variableDefinitions }) }
  })
  return { ...stripped, definitions }
}

/** The variables that an operation uses, in its fragments too. */
function variablesUsedBy(operation: OperationDefinitionNode, document: DocumentNode): Set<string> {
  const used = new Set<string>()
  const spread = new Set<string>()
  const look = (node: ASTNode): void => {
    visit(node, {
      VariableDefinition: () => false,
      Variable: ({ name }) => void used.add(name.value),
      FragmentSpread: ({ name }) => void spread.add(name.value),
    })
  }
  look(operation)
  // A set hands out what is added while it is walked through.
  for (const name of spread) {
    for (const one of document.definitions) {
      if (one.kind === Kind.FRAGMENT_DEFINITION && one.name.value === name) look(one)
    }
  }
  return used
}
