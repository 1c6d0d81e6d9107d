import { isRecord } from '@vinyasa/core'
import type { Names } from './decide-names.ts'

type Extensions = Readonly<Record<string, unknown>>

/** Returns the types that a name in a declaration can refer to: its client name, and the name itself. */
export type Meant = (stated: string) => readonly string[]

/**
 * A statement that names a type means it under the name that clients know, and, as it may have meant one of another
 * source, under the name that it says: to announce or depend on too much is never wrong.
 */
export function meantBy(names: Names): Meant {
  return (stated) => {
    const client = names.get(stated)
    return typeof client === 'string' && client !== stated ? [client, stated] : [stated]
  }
}

/** Returns the declarations in a field's extensions with the client names of types. */
export function renamedStatements(extensions: Extensions, meant: Meant): Extensions {
  const { changes, dependsOn, liveQuery } = extensions
  return {
    ...extensions,
    ...(Array.isArray(changes) && { changes: typesMeant(changes, meant) }),
    ...(Array.isArray(dependsOn) && { dependsOn: typesMeant(dependsOn, meant) }),
    ...(isRecord(liveQuery) && { liveQuery: renamedLiveQuery(liveQuery, meant) }),
  }
}

function typesMeant(stated: readonly unknown[], meant: Meant): unknown[] {
  return [
    ...new Set(
      stated.flatMap((name): readonly unknown[] => (typeof name === 'string' ? meant(name) : [name])),
    ),
  ]
}

function renamedLiveQuery(liveQuery: Extensions, meant: Meant): Extensions {
  const { triggers, dependsOn } = liveQuery
  return {
    ...liveQuery,
    ...(Array.isArray(triggers) && { triggers: triggersMeant(triggers, meant) }),
    ...(Array.isArray(dependsOn) && { dependsOn: typesMeant(dependsOn, meant) }),
  }
}

/** `User.update`, for each name that `User` may have. */
function triggersMeant(triggers: readonly unknown[], meant: Meant): unknown[] {
  return triggers.flatMap((trigger) => {
    if (typeof trigger !== 'string') return [trigger]
    const [type = '', ...operation] = trigger.split('.')
    return meant(type).map((name) => [name, ...operation].join('.'))
  })
}
