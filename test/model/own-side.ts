import { createGraphQLError } from 'graphql-yoga'
import type { IResolvers } from '@graphql-tools/utils'
import { type Behaviour, FailedAfterCommit, type MutationArgs } from './behaviour.ts'
import type { EntityPlan, MutationPlan, ReadPlan, SchemaPlan } from './plan.ts'
import { notesOf, lower, replyOf } from './shapes.ts'

/** Announces that types have changed; `*`: any. */
export type Announce = (types: readonly string[]) => Promise<void>

/** Types and fields that are written by hand, straight from the truth: they depend on nobody. */
export interface OwnSide {
  readonly typeDefs: string
  readonly resolvers: IResolvers
}

/** Undefined where the schema has none. */
export function createOwnSide(
  schema: SchemaPlan,
  behaviour: Behaviour,
  announce: Announce = async () => {},
): OwnSide | undefined {
  const entities = schema.entities.filter(({ source }) => source === 'own')
  if (entities.length === 0) return undefined
  const reads = schema.reads.filter(({ source }) => source === 'own')
  const mutations = schema.mutations.filter(({ source }) => source === 'own')
  const typeOf = {
    __resolveType: ({ id }: { readonly id: string }) =>
      entities.find(({ letter }) => id.startsWith(letter))!.name,
  }
  return {
    typeDefs: [
      'interface Named { id: ID! text: String! }',
      `union Either = ${entities.map(({ name }) => name).join(' | ')}`,
      'type OwnDone { ok: Boolean! }',
      ...notesOf(entities).map((note) => `type ${note} { text: String! weight: Int! }`),
      ...entities.map(typesOf),
      `type Query { ${reads.map((read) => `${read.name}${read.shape === 'one' ? '(id: ID!)' : ''}: ${typeOfRead(read)}`).join(' ')} }`,
      `type Mutation { ${mutations.map((mutation) => `${mutation.name}(id: ID!, other: ID!, text: String!): ${typeOfMutation(mutation)}`).join(' ')} }`,
    ].join('\n'),
    resolvers: {
      Named: typeOf,
      Either: typeOf,
      Query: Object.fromEntries(
        reads.map((read) => [
          read.name,
          (_: unknown, { id = '' }: { readonly id?: string }) =>
            behaviour.read(() => valueOf(read, replyOf(read, behaviour.truth, id, ''))),
        ]),
      ),
      Mutation: Object.fromEntries(
        mutations.map((mutation) => [
          mutation.name,
          async (_: unknown, args: MutationArgs) => {
            try {
              return resultOf(mutation, await behaviour.mutate(mutation, args, ''))
            } catch (error) {
              throw error instanceof FailedAfterCommit ? createGraphQLError('failed after commit') : error
            } finally {
              await announce([mutation.type, ...(mutation.side === undefined ? [] : [mutation.side])])
            }
          },
        ]),
      ),
    },
  }
}

function typesOf({ name, note, computed }: EntityPlan): string {
  const list = `items: [${name}!]! totalCount: Int!`
  return `
    type ${name} implements Named {
      id: ID! text: String! number: Int!
      ${note === undefined ? '' : `note: ${note}`} ${computed.map(({ field, isNote }) => `${field}: ${isNote ? note : 'Int!'}`).join(' ')}
    }
    type List${name}Response { ${list} }
    type ${name}Connection { edges: [${name}Edge!]! pageInfo: ${name}PageInfo! totalCount: Int! }
    type ${name}Edge { cursor: String! node: ${name} }
    type ${name}PageInfo { hasNextPage: Boolean! endCursor: String }
    type ${name}Nested { title: String! inner: List${name}Response! }
    type ${name}Reckoning { count: Int! sum: Int! newest: String! }
    type ${name}Payload { ok: Boolean! ${lower(name)}: ${name} }`
}

function typeOfRead({ type, shape }: ReadPlan): string {
  switch (shape) {
    case 'one':
      return type
    case 'list':
      return `[${type}!]!`
    case 'wrapper':
      return `List${type}Response`
    case 'connection':
      return `${type}Connection`
    case 'nested':
      return `${type}Nested`
    case 'aggregate':
      return `${type}Reckoning`
    case 'count':
    case 'json':
      return 'Int!'
    case 'text':
      return 'String'
    case 'union':
      return '[Either!]!'
    case 'interface':
      return '[Named!]!'
  }
}

function valueOf({ shape }: ReadPlan, reply: Record<string, unknown> | undefined): unknown {
  switch (shape) {
    case 'list':
    case 'interface':
      return reply?.['items']
    case 'count':
    case 'json':
      return reply?.['count']
    case 'text':
      return reply?.['newest']
    case 'union':
      return ((reply?.['hits'] ?? []) as readonly object[]).map((hit) => Object.values(hit)[0])
    default:
      return reply
  }
}

function typeOfMutation({ type, returns, other }: MutationPlan): string {
  switch (returns) {
    case 'entity':
    case 'null':
      return type
    case 'payload':
      return `${type}Payload`
    case 'list':
      return `[${type}!]!`
    case 'ok':
      return 'OwnDone'
    case 'id':
      return 'ID'
    case 'boolean':
    case 'empty':
    case 'json':
      return 'Boolean'
    case 'other':
      return other
  }
}

function resultOf({ returns }: MutationPlan, reply: Record<string, unknown> | undefined): unknown {
  switch (returns) {
    case 'list':
      return reply?.['items']
    case 'boolean':
    case 'json':
      return reply?.['ok']
    case 'id':
      return reply?.['id']
    case 'empty':
      return undefined
    default:
      return reply
  }
}
