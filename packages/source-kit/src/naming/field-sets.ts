import { Kind, parse, print, TypeInfo, visit, visitWithTypeInfo, type GraphQLSchema } from 'graphql'
import type { Names } from './decide-names.ts'
import { partOf } from './elements.ts'

type Extensions = Readonly<Record<string, unknown>>

/**
 * Directives of federation name fields of their type (`@key`, `@requires`) or of the type that a field gives
 * (`@provides`): they do so by the names that clients know. A key with a field that clients do not see is none.
 */
export function renamedFieldSets(
  schema: GraphQLSchema,
  names: Names,
  { directives }: Extensions,
  { type, given }: { readonly type: string; readonly given?: string },
): Extensions {
  if (typeof directives !== 'object' || directives === null) return {}
  const renamed = Object.entries(directives).flatMap(([name, uses]: [string, unknown]) => {
    if (!Array.isArray(uses)) return [[name, uses]]
    const target = name === 'provides' ? given : type
    const kept = uses.flatMap((use: unknown) => {
      const { fields } = (use ?? {}) as { readonly fields?: unknown }
      if (typeof fields !== 'string' || target === undefined) return [use]
      const found = renamedFieldSet(schema, names, target, fields)
      return found === undefined ? [] : [{ ...(use as object), fields: found }]
    })
    return kept.length === 0 ? [] : [[name, kept]]
  })
  return { directives: Object.fromEntries(renamed) as Extensions }
}

/** Undefined where clients do not see one of the fields; what cannot be read is left as it is. */
function renamedFieldSet(
  schema: GraphQLSchema,
  names: Names,
  typeName: string,
  fields: string,
): string | undefined {
  let isHidden = false
  const info = new TypeInfo(schema)
  try {
    const document = visit(
      parse(`fragment F on ${typeName} { ${fields} }`),
      visitWithTypeInfo(info, {
        Field: {
          leave(node) {
            const { coordinate } = partOf(info.getParentType()?.name ?? '', node.name.value)
            const client = names.get(coordinate)
            if (client === null) isHidden = true
            return { ...node, name: { ...node.name, value: client ?? node.name.value } }
          },
        },
      }),
    )
    if (isHidden) return undefined
    const [fragment] = document.definitions
    const selection = fragment?.kind === Kind.FRAGMENT_DEFINITION ? print(fragment.selectionSet) : ''
    return selection.replaceAll(/\s+/g, ' ').slice(1, -1).trim()
  } catch {
    return fields
  }
}
