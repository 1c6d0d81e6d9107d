import type { MemberDefinition, TypeDefinition, UnionDefinition } from '../../declare/type-definitions.ts'

/**
 * Makes interfaces of unions with a discriminator whose members have fields in common, of one type and one JSON member:
 * a client selects those without naming every member.
 */
export function makeInterfaces(definitions: Map<string, TypeDefinition>): void {
  const interfaces = new Map<string, string[]>()
  for (const [name, definition] of definitions) {
    if (definition.kind !== 'union' || !definition.discriminator) continue
    const fields = commonFields(definition, definitions)
    if (Object.keys(fields).length === 0) continue
    definitions.set(name, { ...definition, kind: 'interface', fields })
    for (const member of Object.keys(definition.members))
      interfaces.set(member, [...(interfaces.get(member) ?? []), name])
  }
  for (const [member, names] of interfaces) {
    const definition = definitions.get(member)
    if (definition?.kind === 'object') definitions.set(member, { ...definition, interfaces: names })
  }
}

function commonFields(
  { members }: UnionDefinition,
  definitions: ReadonlyMap<string, TypeDefinition>,
): Readonly<Record<string, MemberDefinition>> {
  const found = Object.keys(members).map((member) => definitions.get(member))
  const objects = found.filter((definition) => definition?.kind === 'object')
  if (objects.length < 2 || objects.length < found.length) return {}
  const [first, ...others] = objects
  return Object.fromEntries(
    Object.entries(first?.fields ?? {}).filter(([name, { type, key }]) =>
      others.every(({ fields }) => {
        const other = Object.hasOwn(fields, name) ? fields[name] : undefined
        return other?.type === type && other.key === key
      }),
    ),
  )
}
