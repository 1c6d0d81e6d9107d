import { isRecord } from '@vinyasa/core'
import { compileResultPath, type Refuse } from './result-path.ts'

/** Returns the id of the entity that a mutation changed; `undefined` if it is unknown. */
type ReadEntityId = (args: Readonly<Record<string, unknown>>, result: unknown) => string | undefined

const VARIABLE = /\{([_A-Za-z]\w*(?:\.[_A-Za-z]\w*)*)\}/

/**
 * Compiles the `entityId` of a mutation's invalidation event. `{id}` and `{user.id}` refer to arguments and can have
 * text around them; `$.id` refers to the result. Fixed text is refused, because it would not match any entity.
 */
export function compileEntityId(entityId: string, refuse: Refuse): ReadEntityId {
  if (entityId.startsWith('$')) {
    const extract = compileResultPath(entityId, refuse)
    return (_, result) => asId(extract(result))
  }
  // Every second part is what the group of the expression has found.
  const parts = entityId.split(VARIABLE)
  if (parts.length === 1 || parts.some((part, index) => index % 2 === 0 && /[{}]/.test(part)))
    throw refuse(
      `"${entityId}" is not a valid reference to an argument or to the result; ` +
        `write {id} or {user.id} for an argument, or $.id for the result`,
    )
  const paths = parts.map((part, index) => (index % 2 === 0 ? part : part.split('.')))
  return (args) => {
    const texts = paths.map((part) => (typeof part === 'string' ? part : asId(memberAt(args, part))))
    return texts.includes(undefined) ? undefined : texts.join('')
  }
}

/** Only own members are read, so that `{constructor}` is never found on a prototype. */
function memberAt(args: unknown, path: readonly string[]): unknown {
  let current = args
  for (const name of path) {
    if (!isRecord(current)) return undefined
    current = Object.hasOwn(current, name) ? current[name] : undefined
  }
  return current
}

function asId(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint'
    ? String(value)
    : undefined
}
