import { compileResultPath } from '@vinyasa/source-kit'
import { RestConfigError } from '../errors.ts'

/** Takes a value out of an object of a response; null where it is not there. */
export type ReadMember = (object: object) => unknown

export interface MemberPath {
  /** The name of the one member that is read; undefined: it is a path. */
  readonly name: string | undefined
  readonly read: ReadMember
}

/** The `key` of a field that reads the very object that it is a field of. */
const LEVEL = '$'

const ONE_NAME = /^\$\[\s*'((?:[^'\\]|\\['\\])*)'\s*\]$/u

/**
 * Compiles the `key` of a field: a member's name, or a path (`address.city`, `lines[0].text`, `$.address.city`). Of a
 * name that can be read as a path, the member of that very name comes first; `$` in front says that it is a path.
 * `$['address.city']` is a member alone, and `$` by itself is the object itself.
 *
 * @throws RestConfigError
 */
export function compileMember(key: string): MemberPath {
  const quoted = ONE_NAME.exec(key)?.[1]
  if (quoted !== undefined) return oneMember(quoted.replace(/\\(['\\])/g, '$1'))
  if (key === LEVEL || /^\$[.[]/.test(key)) return { name: undefined, read: compile(key) }
  if (!/[.[]/.test(key)) return oneMember(key)
  const path = compileUnlessName(key)
  if (!path) return oneMember(key)
  return {
    name: undefined,
    read: (object) =>
      Object.hasOwn(object, key) ? (object as Readonly<Record<string, unknown>>)[key] : path(object),
  }
}

/** Returns the key by which exactly the member of a name is read. */
export function keyOfMember(name: string): string {
  return name === LEVEL || /[.[]/.test(name) ? `$['${name.replace(/['\\]/g, '\\$&')}']` : name
}

/** Refuses the object itself as what can never be one. @throws RestConfigError */
export function refuseLevel(key: string, what: string): void {
  if (key !== LEVEL) return
  throw new RestConfigError(
    `key "${LEVEL}" refers to the object itself, which cannot be ${what}; use the name of a property. If a property is called "${LEVEL}", write ${keyOfMember(LEVEL)}`,
  )
}

/** Reads the member of a name. */
export function oneMember(name: string): MemberPath {
  if (!(name in Object.prototype))
    return { name, read: (object) => (object as Readonly<Record<string, unknown>>)[name] }
  return {
    name,
    read: (object) =>
      Object.hasOwn(object, name) ? (object as Readonly<Record<string, unknown>>)[name] : null,
  }
}

/** Names of members like `@odata.count` and `.tag` are no paths, and none was meant. */
function compileUnlessName(key: string): ReadMember | undefined {
  try {
    return compile(`$.${key}`)
  } catch (error) {
    if (/\.\.|\.$|\[/.test(key))
      throw new RestConfigError(
        `key "${key}" is not a valid path; use a form such as address.city, lines[0].text or $['quoted name'], or write ${keyOfMember(key)} for the property with exactly that name`,
        { cause: error },
      )
    return undefined
  }
}

function compile(path: string): ReadMember {
  return compileResultPath(path, (problem) => new RestConfigError(`key ${problem}`))
}
