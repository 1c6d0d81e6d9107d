import type { InputDefinition, TypeDefinition } from '../../declare/type-definitions.ts'

/** Nobody could give an input that must hold itself: of each such circle one field becomes nullable. */
export function breakInputCycles(definitions: Map<string, TypeDefinition>): void {
  const done = new Set<string>()
  const path = new Set<string>()

  function visit(name: string): void {
    const definition = definitions.get(name)
    if (definition?.kind !== 'input' || done.has(name)) return
    path.add(name)
    let fields: InputDefinition['fields'] = definition.fields
    for (const [field, member] of Object.entries(definition.fields)) {
      const required = /^(\w+)!$/.exec(member.type)?.[1]
      if (required === undefined) continue
      if (path.has(required)) fields = { ...fields, [field]: { ...member, type: required } }
      else visit(required)
    }
    definitions.set(name, { ...definition, fields })
    path.delete(name)
    done.add(name)
  }

  for (const name of [...definitions.keys()].toSorted()) visit(name)
}
