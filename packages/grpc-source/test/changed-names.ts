import {
  isObjectType,
  lexicographicSortSchema,
  printType,
  type GraphQLField,
  type GraphQLSchema,
} from 'graphql'

/** What clients of a schema ask for and another does not have alike: fields of the root types, and types. */
export function changedNames(before: GraphQLSchema, after: GraphQLSchema): readonly string[] {
  const changed: string[] = []
  const roots = ['Query', 'Mutation', 'Subscription']
  for (const root of roots) {
    const fields = fieldsOf(after, root)
    for (const [name, field] of Object.entries(fieldsOf(before, root)))
      if (!fields[name] || textOf(field) !== textOf(fields[name])) changed.push(`${root}.${name}`)
  }
  const now = lexicographicSortSchema(after)
  for (const type of Object.values(lexicographicSortSchema(before).getTypeMap())) {
    if (roots.includes(type.name)) continue
    const other = now.getType(type.name)
    if (!other || printType(other) !== printType(type)) changed.push(type.name)
  }
  return changed
}

function fieldsOf(
  schema: GraphQLSchema,
  root: string,
): Readonly<Record<string, GraphQLField<unknown, unknown>>> {
  const type = schema.getType(root)
  return isObjectType(type) ? type.getFields() : {}
}

/** The field's type and arguments, and the method that it stands for. */
function textOf({ type, args, extensions }: GraphQLField<unknown, unknown>): string {
  const given = args.map((arg) => `${arg.name}: ${String(arg.type)}`)
  return `(${given.join(', ')}): ${String(type)} of ${String(extensions['origin'])}`
}
