import { listValue } from './journal.ts'
import type { Key } from './model.ts'
import type { Random } from '@vinyasa/test-kit'

/** Users, products and review lists that are changed; few, so that many clients meet at each. */
export const COUNT = 12
const ids: readonly string[] = Array.from({ length: COUNT }, (_, index) => String(index + 1))

/** What a result says about the truth. */
export type Seen = readonly (readonly [Key, string])[]

interface User {
  readonly id: string
  readonly name: string
  readonly profile?: { readonly bio: string } | null
}

interface Review {
  readonly text: string
  readonly author?: User | null
}

/** The root fields that operations are made of; a part that failed is null. */
export interface Data {
  readonly user?: User | null
  readonly users?: { readonly totalCount?: number; readonly users?: readonly User[] } | null
  readonly getProduct?: { readonly id: string; readonly description: string } | null
  readonly listReviews?: readonly Review[] | null
}

const seenUser = ({ id, name }: User): Seen => (ids.includes(id) ? [[`user:${id}`, name]] : [])

/** Every value in a result. `productId` says whose reviews they are. */
export function seenIn(data: Data | null | undefined, productId: string): Seen {
  const { user, users, getProduct, listReviews } = data ?? {}
  const seen: (readonly [Key, string])[] = []
  if (user?.name !== undefined) seen.push(...seenUser(user))
  if (user?.profile && ids.includes(user.id))
    seen.push([`user:${user.id}`, user.profile.bio.replace(/ likes .*$/, '')])
  for (const member of users?.users ?? []) seen.push(...seenUser(member))
  if (users?.totalCount !== undefined) seen.push(['users', String(users.totalCount)])
  if (getProduct) seen.push([`product:${getProduct.id}`, getProduct.description])
  if (listReviews) {
    seen.push([`reviews:${productId}`, listValue(listReviews.map(({ text }) => text))])
    for (const { author } of listReviews) if (author) seen.push(...seenUser(author))
  }
  return seen
}

export interface Operation {
  readonly name: string
  readonly query: string
  readonly id: string
}

const READS: readonly ((id: string) => readonly [string, string])[] = [
  (id) => ['user', `user(id: "${id}") { id name }`],
  () => ['users', `users(limit: ${COUNT}) { totalCount users { id name } }`],
  (id) => ['product', `getProduct(id: "${id}") { id description }`],
  (id) => ['reviews', `listReviews(productId: "${id}") { text author { id name } }`],
  (id) => ['both', `user(id: "${id}") { id name } getProduct(id: "${id}") { id description }`],
]

const DEFERRED: readonly ((id: string) => readonly [string, string])[] = [
  (id) => ['deferred profile', `user(id: "${id}") { id name ... @defer { id profile { bio } } }`],
  (id) => [
    'deferred reviews',
    `getProduct(id: "${id}") { id description } ... @defer { listReviews(productId: "${id}") { text author { id name } } }`,
  ],
]

function drawn(list: typeof READS, random: Random): Operation {
  const id = random.pick(ids)
  const [name, selection] = random.pick(list)(id)
  return { name, id, query: `{ ${selection} }` }
}

export const drawRead = (random: Random): Operation => drawn(READS, random)
export const drawDeferred = (random: Random): Operation => drawn(DEFERRED, random)

/** Live queries of users over WebSocket, of products and reviews over SSE, or as the random numbers want it. */
export function drawLive(random: Random): Operation {
  const id = random.pick(ids)
  const [name, selection] = random.pick([
    ['live user', `user(id: "${id}") { id name }`],
    ['live users', `users(limit: ${COUNT}) { totalCount users { id name } }`],
    ['live product', `getProduct(id: "${id}") { id description }`],
    ['live reviews', `listReviews(productId: "${id}") { text }`],
  ] as const)
  return { name, id, query: `query @live { ${selection} }` }
}

/** A read of one key, to follow its mutation. */
export function readOf(key: Key): Operation {
  const [kind, id = '1'] = key.split(':')
  const selections: Readonly<Record<string, string>> = {
    user: `user(id: "${id}") { id name }`,
    users: `users(limit: ${COUNT}) { totalCount users { id name } }`,
    product: `getProduct(id: "${id}") { id description }`,
    reviews: `listReviews(productId: "${id}") { text author { id name } }`,
  }
  return { name: `read of ${kind}`, id, query: `{ ${selections[kind!]} }` }
}

export interface Mutation {
  readonly key: Key
  readonly token: string
  readonly query: string
}

/** A change of one key; each writes what none has written before. */
export function drawMutation(random: Random, number: number): Mutation {
  const id = random.pick(ids)
  const dice = random.next()
  if (dice < 0.5) return changeOf(`user:${id}`, number)
  if (dice < 0.85) return changeOf(`product:${id}`, number)
  return changeOf(dice < 0.95 ? `reviews:${id}` : 'users', number)
}

export function changeOf(key: Key, number: number): Mutation {
  const [kind, id] = key.split(':')
  const token = `${kind} ${id ?? ''} v${number}`
  switch (kind) {
    case 'user':
      return { key, token, query: `mutation { updateUser(id: "${id}", name: "${token}") { id name } }` }
    case 'users':
      return {
        key,
        token,
        query: `mutation { createUser(name: "${token}", email: "v${number}@example.com") { id name } }`,
      }
    case 'product':
      return {
        key,
        token,
        query: `mutation { updateProduct(id: "${id}", description: "${token}") { id description } }`,
      }
    default:
      return {
        key,
        token,
        query: `mutation { createReview(productId: "${id}", userId: "${id}", rating: 5, text: "${token}") { id } }`,
      }
  }
}

/** A read of everything. */
export const ALL_READS: readonly Operation[] = [
  readOf('users'),
  ...ids.flatMap((id) => [readOf(`product:${id}`), readOf(`reviews:${id}`)]),
]
