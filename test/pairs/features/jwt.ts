import { constant } from 'fast-check'
import type { Piece } from '../config-file.ts'
import type { Feature, Value } from '../feature.ts'
import { AUDIENCE, ISSUER, SECRET, subjectOf, type User, USERS } from '../users.ts'

const jwt = (more: Piece): Piece => ({
  auth: {
    jwt: {
      issuers: [{ issuer: ISSUER, audience: AUDIENCE, secret: SECRET, algorithms: ['HS256'] }],
      ...more,
    },
  },
})

const isKnown = ({ headers }: User): boolean => headers['authorization'] !== undefined

/** A token that nobody signed is refused on every way in, and reaches no backend. */
const forge: NonNullable<Value['during']> = async ({ ask, violate }) => {
  const [ada] = USERS as readonly [User]
  const forged = `${ada.headers['authorization']?.slice(0, -4)}AAAA`
  for (const way of [undefined, 'post', 'get'] as const) {
    const operation = { name: 'Book', type: 'query' as const, text: '{ book(id: "1") { title } }' }
    const user = { name: 'mallory', headers: { authorization: forged, 'x-tenant': 'north' } }
    const { operations } = await ask(user, operation, way)
    const code = operations[0]?.answer.errors?.[0]?.extensions?.['code']
    if (code !== 'UNAUTHENTICATED' && code !== 'PERSISTED_QUERY_ONLY')
      violate(`a forged token is answered: ${way ?? 'the usual way'}, ${JSON.stringify(code)}`)
  }
  return undefined
}

const refuses: NonNullable<Value['refuses']> = (_asked, { user }) =>
  user.name === 'mallory' ? 'UNAUTHENTICATED' : undefined

const onlyAda = (refuse: 'field' | 'operation'): Piece => ({
  ...jwt({ scheme: 'Bearer', header: 'authorization', scopesClaim: 'scope' }),
  access: {
    refuse,
    fields: { 'Author.email': { policies: ['ada'] } },
    policies: { ada: { claim: 'sub', is: ['ada'] } },
  },
})

/** Why one may not see what is for ada alone. */
const refusalOf = (user: User): string | undefined => {
  if (!isKnown(user)) return 'UNAUTHENTICATED'
  return subjectOf(user.headers['authorization'] ?? '') === 'ada' ? undefined : 'FORBIDDEN'
}

export const auth: Feature = {
  name: 'jwt',
  settings: ['auth', 'access', 'grpc', 'rest'],
  values: [
    { name: 'off' },
    {
      name: 'fields',
      config: () => constant({ ...jwt({}), access: { fields: { 'Author.email': { authenticated: true } } } }),
      denies: (coordinate, user) =>
        coordinate === 'Author.email' && !isKnown(user) ? 'UNAUTHENTICATED' : undefined,
      refuses,
      during: forge,
    },
    {
      name: 'policies',
      config: () => constant(onlyAda('field')),
      denies: (coordinate, user) => (coordinate === 'Author.email' ? refusalOf(user) : undefined),
      refuses,
      during: forge,
    },
    {
      name: 'whole operations',
      config: () => constant(onlyAda('operation')),
      refuses: (asked, sent, piece) =>
        refuses(asked, sent, piece) ??
        (asked.operation.text.includes('email') ? refusalOf(sent.user) : undefined),
      refusesLate: ({ operation, answer }, { user }) =>
        operation.text.includes('email') && answer.errors?.[0]?.extensions?.['code'] === refusalOf(user),
      during: forge,
    },
    {
      name: 'claims',
      // A header that is made of a claim is for backends that get it.
      config: () =>
        constant({
          ...jwt({ forwardClaims: { 'x-user': 'sub' } }),
          grpc: { books: { forwardHeaders: ['x-user'] } },
          rest: { authors: { forwardHeaders: ['x-user'] } },
        }),
      forwards: { grpc: ['x-user'], rest: ['x-user'] },
      derives: (user) => ({
        'x-user': isKnown(user) ? subjectOf(user.headers['authorization'] ?? '') : undefined,
      }),
      refuses,
      during: forge,
    },
    {
      name: 'required',
      config: () => constant(jwt({ required: true })),
      refuses: (asked, sent, piece) => (isKnown(sent.user) ? refuses(asked, sent, piece) : 'UNAUTHENTICATED'),
      during: forge,
    },
  ],
}
