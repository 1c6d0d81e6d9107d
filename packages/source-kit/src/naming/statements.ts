import type { Names } from './decide-names.ts'

type Extensions = Readonly<Record<string, unknown>>

/**
 * A statement that names a type means it under the name that clients know, and, as it may have meant one of another
 * source, under the name that it says: to announce or depend on too much is never wrong.
 */
export function typesMeant(names: Names, stated: readonly unknown[]): unknown[] {
  const all = stated.flatMap((name) => {
    const client = typeof name === 'string' ? names.get(name) : undefined
    return typeof client === 'string' ? [client, name] : [name]
  })
  return [...new Set(all)]
}

/** What sources state of fields, with the names of types that clients know. */
export function renamedStatements(extensions: Extensions, names: Names): Extensions {
  const { changes, dependsOn, liveQuery } = extensions
  return {
    ...extensions,
    ...(Array.isArray(changes) && { changes: typesMeant(names, changes) }),
    ...(Array.isArray(dependsOn) && { dependsOn: typesMeant(names, dependsOn) }),
    ...(isRecord(liveQuery) && { liveQuery: renamedLiveQuery(liveQuery, names) }),
  }
}

function renamedLiveQuery(liveQuery: Extensions, names: Names): Extensions {
  const { triggers, dependsOn } = liveQuery
  return {
    ...liveQuery,
    ...(Array.isArray(triggers) && { triggers: triggersMeant(names, triggers) }),
    ...(Array.isArray(dependsOn) && { dependsOn: typesMeant(names, dependsOn) }),
  }
}

/** `User.update`, for each name that `User` may have. */
function triggersMeant(names: Names, triggers: readonly unknown[]): unknown[] {
  return triggers.flatMap((trigger) => {
    if (typeof trigger !== 'string') return [trigger]
    const [type = '', ...operation] = trigger.split('.')
    return typesMeant(names, [type]).map((name) => [name, ...operation].join('.'))
  })
}

function isRecord(value: unknown): value is Extensions {
  return typeof value === 'object' && value !== null
}
