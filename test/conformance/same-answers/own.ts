import type { createSchema } from 'graphql-yoga'
import { called, type Held } from './backends.ts'
import { isThing, type Row } from './data.ts'

export interface OwnContext {
  readonly request: { readonly headers: { get(name: string): string | null } }
}

export interface OwnObject {
  readonly id: string
  readonly itemId: unknown
  readonly ownerId: unknown
  readonly text: string
}

/** An object of the server's own: a box with another name. */
export function ownOf(box: Row, caller: string): OwnObject {
  return { id: box.id, itemId: box['itemId'], ownerId: box['ownerId'], text: `own ${box.id}@${caller}` }
}

export function ownsOf({ things }: Held, caller: string): readonly OwnObject[] {
  return things
    .filter(isThing)
    .filter(({ type }) => type === 'box')
    .map((box) => ownOf(box, caller))
}

/** Fields with resolvers of the server's own. */
export function ownFields(): Parameters<typeof createSchema<OwnContext>>[0] {
  async function load(name: string, keys: readonly string[], caller: string): Promise<readonly OwnObject[]> {
    const { found } = await called({ name, caller, keys }, (held) => ownsOf(held, caller))
    if (!found) throw new Error(`no ${name}`)
    return found
  }
  const variesByOf = ({ request }: OwnContext): string => request.headers.get('x-user') ?? ''
  return {
    typeDefs: `type Query { own(id: ID!): Own owns: [Own!]! }
      type Own { id: ID! itemId: ID ownerId: ID text: String! late: String }`,
    resolvers: {
      Query: {
        own: async (_, { id }: { id: string }, context) =>
          (await load('own', [id], variesByOf(context))).find((one) => one.id === id),
        owns: async (_, __, context) => load('owns', [], variesByOf(context)),
      },
      Own: {
        late: async ({ id, text }: OwnObject, _, context) => {
          await called({ name: 'late', caller: variesByOf(context), keys: [id] }, () => true)
          return `late ${text}`
        },
      },
    },
  }
}
