import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { constant } from 'fast-check'
import type { Feature, Value } from '../feature.ts'
import { idOf, knownTexts } from '../operations.ts'
import { type User, USERS } from '../users.ts'

/** A manifest of all that the row's clients may ask. */
const registered =
  (mode: string): NonNullable<Value['config']> =>
  ({ folder, kinds }) => {
    const documents = knownTexts(kinds).map((text) => [`sha256:${idOf(text)}`, text])
    writeFileSync(join(folder, 'documents.json'), JSON.stringify(Object.fromEntries(documents)))
    return constant({ persistedDocuments: { from: 'documents.json', mode } })
  }

export const documents: Feature = {
  name: 'documents',
  settings: ['persistedDocuments'],
  values: [
    { name: 'off' },
    { name: 'allow', config: registered('allow'), ways: ['id', 'id by get'] },
    // It looks at each text that it does not know.
    { name: 'log', config: registered('log'), ways: ['id', 'id by get'], enters: ['literals'] },
    {
      name: 'only',
      config: registered('only'),
      // What is sent with its text would be refused.
      fits: ({ apq = 'off', defer = 'off' }) => apq === 'off' && defer === 'off',
      onlyWays: ['id', 'id by get'],
      refuses: (_asked, { way }) =>
        way === 'id' || way === 'id by get' ? undefined : 'PERSISTED_QUERY_ONLY',
      during: async ({ ask }) => {
        const operation = { name: 'Book', type: 'query' as const, text: '{ book(id: "1") { id } }' }
        for (const way of ['post', 'get'] as const) await ask(USERS[0] as User, operation, way)
        return undefined
      },
    },
  ],
}

export const apq: Feature = {
  name: 'apq',
  settings: ['apq'],
  values: [
    { name: 'off' },
    {
      name: 'on',
      config: () => constant({ apq: true }),
      ways: ['apq'],
      *observe({ sent }) {
        const left = sent.filter(({ way, isProbe, operations }) => {
          const code = operations[0]?.answer.errors?.[0]?.extensions?.['code']
          return way === 'apq' && !isProbe && code === 'PERSISTED_QUERY_NOT_FOUND'
        })
        if (left.length > 0) yield `a hash with its text is not known: ${left.length} times`
      },
    },
  ],
}
