import {
  isObjectType,
  Kind,
  parse,
  parseType,
  print,
  visit,
  type ASTNode,
  type DefinitionNode,
  type FieldDefinitionNode,
  type GraphQLSchema,
} from 'graphql'

/** What the schema of one generator's document has otherwise than `library.graphql`, and why. */
export interface Difference {
  readonly reason: string
  /** Types by coordinate (`Book.size`, `Query.listItems(page:)`), of fields that are new, too; null: it is not there. */
  readonly types?: Readonly<Record<string, string | null>>
  /** Definitions that are not there. */
  readonly without?: readonly string[]
  /** Definitions that are there besides, or in the place of others of their names. */
  readonly with?: string
}

type Named = DefinitionNode & { readonly name: { readonly value: string } }

/** The definitions of a schema in one order, without descriptions. */
export function normalized(sdl: string): string {
  const bare = visit(parse(sdl), {
    enter: (node: ASTNode) => {
      const {
        fields,
        values,
        interfaces,
        arguments: args,
      } = node as { fields?: []; values?: []; interfaces?: []; arguments?: [] }
      const given = { ...(fields && { fields: sorted(fields) }), ...(values && { values: sorted(values) }) }
      return {
        ...node,
        ...given,
        ...(args && { arguments: sorted(args) }),
        ...(interfaces && { interfaces: sorted(interfaces) }),
        description: undefined,
      }
    },
  })
  return sorted(bare.definitions as readonly Named[])
    .map(print)
    .join('\n\n')
}

/** The schema that the differences leave of another. */
export function differing(sdl: string, differences: readonly Difference[]): string {
  let definitions = parse(sdl).definitions as readonly Named[]
  for (const difference of differences) {
    const more = difference.with === undefined ? [] : (parse(difference.with).definitions as readonly Named[])
    const gone = new Set([...(difference.without ?? []), ...more.map(({ name }) => name.value)])
    definitions = [...definitions.filter(({ name }) => !gone.has(name.value)), ...more]
    for (const [coordinate, type] of Object.entries(difference.types ?? {}))
      definitions = definitions.map((one) => retyped(one, coordinate, type))
  }
  return definitions.map(print).join('\n')
}

function retyped(definition: Named, coordinate: string, type: string | null): Named {
  const [, owner, field, arg] = /^(\w+)\.(\w+)(?:\((\w+):\))?$/.exec(coordinate) ?? []
  if (definition.name.value !== owner || !('fields' in definition)) return definition
  const fields = definition.fields as readonly FieldDefinitionNode[]
  const [wanted = '', value] = (type ?? '').split(' = ')
  const more = {
    type: type === null ? undefined : parseType(wanted),
    ...(value !== undefined && { defaultValue: { kind: Kind.STRING, value } }),
    ...(value === undefined && arg !== undefined && { defaultValue: undefined }),
  }
  const changed = fields.flatMap((one): readonly FieldDefinitionNode[] => {
    if (one.name.value !== field) return [one]
    if (arg === undefined) return type === null ? [] : [{ ...one, ...more } as FieldDefinitionNode]
    const args = one.arguments?.map((each) => (each.name.value === arg ? { ...each, ...more } : each))
    return [{ ...one, arguments: args } as FieldDefinitionNode]
  })
  const isNew = type !== null && !fields.some(({ name }) => name.value === field)
  const added = { kind: Kind.FIELD_DEFINITION, name: { kind: Kind.NAME, value: field }, ...more }
  return { ...definition, fields: isNew ? [...changed, added] : changed } as Named
}

function sorted<Item extends { readonly name?: { readonly value: string } }>(all: readonly Item[]): Item[] {
  return all.toSorted((a, b) => ((a.name?.value ?? '') < (b.name?.value ?? '') ? -1 : 1))
}

/** All fields of an object without the ones that are objects, as a selection. */
export function leavesOf(schema: GraphQLSchema, name: string, but: readonly string[]): string {
  const type = schema.getType(name)
  if (!isObjectType(type)) return ''
  return Object.keys(type.getFields())
    .filter((field) => !but.includes(field))
    .join(' ')
}
