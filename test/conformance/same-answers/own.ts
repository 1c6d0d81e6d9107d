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
export function ownOf(box: Row, asker: string): OwnObject {
  return { id: box.id, itemId: box['itemId'], ownerId: box['ownerId'], text: `own ${box.id}@${asker}` }
}

export function ownsOf({ things }: Held, asker: string): readonly OwnObject[] {
  return things
    .filter(isThing)
    .filter(({ type }) => type === 'box')
    .map((box) => ownOf(box, asker))
}

/** Fields with resolvers of the server's own. */
export function ownFields(): Parameters<typeof createSchema<OwnContext>>[0] {
  async function load(name: string, keys: readonly string[], asker: string): Promise<readonly OwnObject[]> {
    const { found } = await called({ name, asker, keys }, (held) => ownsOf(held, asker))
    if (!found) throw new Error(`no ${name}`)
    return found
  }
  const askerOf = ({ request }: OwnContext): string => request.headers.get('x-user') ?? ''
  return {
    typeDefs: `type Query { own(id: ID!): Own owns: [Own!]! }
      type Own { id: ID! itemId: ID ownerId: ID text: String! late: String }`,
    resolvers: {
      Query: {
        own: async (_, { id }: { id: string }, context) =>
          (await load('own', [id], askerOf(context))).find((one) => one.id === id),
        owns: async (_, __, context) => load('owns', [], askerOf(context)),
      },
      Own: {
        late: async ({ id, text }: OwnObject, _, context) => {
          await called({ name: 'late', asker: askerOf(context), keys: [id] }, () => true)
          return `late ${text}`
        },
      },
    },
  }
}
