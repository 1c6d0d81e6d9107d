const OPERATIONS = new Map([
  ['create', 'create'],
  ['add', 'create'],
  ['insert', 'create'],
  ['update', 'update'],
  ['set', 'update'],
  ['patch', 'update'],
  ['edit', 'update'],
  ['upsert', 'update'],
  ['delete', 'delete'],
  ['remove', 'delete'],
])

/** A hint in the name of a mutation. It is no statement: it may add to what is announced, never narrow it. */
export interface Verb {
  /** `create`, `update` or `delete`; undefined where the first word is none of the known verbs. */
  readonly operation: string | undefined
  /** The rest of the name, as a type would be called; undefined where there is none. */
  readonly noun: string | undefined
}

/** `DeleteUser`, `deleteUser` and `delete_user` are `delete` and `User`. */
export function readVerb(name: string): Verb {
  const [, first = '', rest = ''] = /^([A-Za-z][a-z]*)_?(.*)$/s.exec(name) ?? []
  return {
    operation: OPERATIONS.get(first.toLowerCase()),
    noun: rest === '' ? undefined : rest.charAt(0).toUpperCase() + rest.slice(1),
  }
}
