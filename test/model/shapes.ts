import type { EntityPlan, MutationPlan, Operation, ReadPlan } from './plan.ts'
import type { Mark, Truth } from './truth.ts'

export const lower = (name: string): string => name.charAt(0).toLowerCase() + name.slice(1)
export const upper = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)

/** The types of notes, each once. */
export const notesOf = (entities: readonly EntityPlan[]): readonly string[] => [
  ...new Set(entities.flatMap(({ note }) => note ?? [])),
]

/** As it is sent. */
export const textOf = ({ head, selection }: Operation, directive = ''): string =>
  head || directive ? `query ${head} ${directive} ${selection}` : selection

/** The reply of a read, the same over gRPC and REST; undefined: there is no such row. */
export function replyOf(
  { type, shape, others }: ReadPlan,
  truth: Truth,
  id: string,
  mark: Mark,
): Record<string, unknown> | undefined {
  const items = truth.entities(type, truth.ids(type), mark)
  const totalCount = items.length
  switch (shape) {
    case 'one':
      return truth.entity(type, id, mark)
    case 'list':
    case 'wrapper':
      return { items, totalCount }
    case 'connection':
      return {
        edges: items.map((node) => ({ cursor: `after ${String(node['id'])}`, node })),
        pageInfo: { hasNextPage: false, endCursor: String(items.at(-1)?.['id'] ?? '') },
        totalCount,
      }
    case 'nested':
      return { title: `all${mark}`, inner: { items, totalCount } }
    case 'aggregate':
    case 'count':
    case 'text':
    case 'json':
      return { count: truth.count(type), sum: truth.sum(type), newest: truth.newest(type) + mark }
    case 'interface':
      return {
        items: [type, ...others].flatMap((member) => truth.entities(member, truth.ids(member), mark)),
      }
    case 'union':
      return {
        hits: [type, ...others].flatMap((member) =>
          truth.entities(member, truth.ids(member), mark).map((hit) => ({ [lower(member)]: hit })),
        ),
      }
  }
}

/** The reply of a mutation that was carried out on `id`, whose row was `before` until then. */
export function replyTo(
  { type, returns, other }: MutationPlan,
  truth: Truth,
  id: string,
  before: Record<string, unknown> | undefined,
  mark: Mark,
): Record<string, unknown> | undefined {
  const entity = truth.entity(type, id, mark) ?? before
  switch (returns) {
    case 'entity':
      return entity
    case 'null':
      return undefined
    case 'payload':
      return { ok: true, [lower(type)]: entity }
    case 'list':
      return { items: truth.entities(type, truth.ids(type), mark), totalCount: truth.count(type) }
    case 'ok':
    case 'boolean':
    case 'id':
    case 'json':
      return { ok: true, id }
    case 'empty':
      return {}
    case 'other':
      return truth.entity(other, truth.ids(other)[0] ?? '', mark)
  }
}
