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

/** Verb and noun in the name of a mutation. They can add events, but not limit them. */
export interface Verb {
  /** Operation: `create`, `update` or `delete`; `undefined` if the first word is an unknown verb. */
  readonly operation: string | undefined
  /** Rest of the name in the form of a type name; `undefined` if the name has only one word. */
  readonly noun: string | undefined
}

/** Splits the name of a mutation: `DeleteUser`, `deleteUser` and `delete_user` return `delete` and `User`. */
export function readVerb(name: string): Verb {
  const [, first = '', rest = ''] = /^([A-Za-z][a-z]*)_?(.*)$/s.exec(name) ?? []
  return {
    operation: OPERATIONS.get(first.toLowerCase()),
    noun: rest === '' ? undefined : rest.charAt(0).toUpperCase() + rest.slice(1),
  }
}
