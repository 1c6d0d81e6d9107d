import { HttpError } from './errors.ts'
import { parseProductChanges, parseReview, parseSearch } from './input.ts'
import type { Shop } from './shop.ts'

export interface RouteRequest {
  /** Values of the path's `:name` segments. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly body: unknown
}

export interface Route {
  readonly method: string
  /** Segments, `:name` for a variable one. */
  readonly path: string
  readonly status?: number
  readonly answer: (request: RouteRequest) => unknown
}

export function createRoutes(shop: Shop): readonly Route[] {
  return [
    { method: 'GET', path: '/health', answer: () => ({ status: 'ok' }) },
    { method: 'GET', path: '/products', answer: ({ query }) => shop.products(listOf(query, 'ids') ?? []) },
    { method: 'POST', path: '/products/search', answer: ({ body }) => searched(shop, body) },
    { method: 'GET', path: '/products/:id', answer: ({ params }) => shop.product(param(params, 'id')) },
    {
      method: 'PATCH',
      path: '/products/:id',
      answer: ({ params, body }) => shop.updateProduct(param(params, 'id'), parseProductChanges(body)),
    },
    { method: 'GET', path: '/products/:id/stock', answer: ({ params }) => shop.stock(param(params, 'id')) },
    {
      method: 'GET',
      path: '/products/:id/reviews',
      answer: ({ params }) => shop.reviewsOfProducts([shop.product(param(params, 'id')).id]),
    },
    { method: 'GET', path: '/reviews', answer: ({ query }) => reviews(shop, query) },
    {
      method: 'POST',
      path: '/reviews',
      status: 201,
      answer: ({ body }) => shop.createReview(parseReview(body)),
    },
    { method: 'GET', path: '/deals/today', answer: () => ({ data: { items: [shop.dealOfTheDay()] } }) },
  ]
}

function searched(shop: Shop, body: unknown): unknown {
  const { query, limit } = parseSearch(body)
  return shop.search(query, limit)
}

function reviews(shop: Shop, query: URLSearchParams): unknown {
  const productIds = listOf(query, 'productIds')
  if (productIds) return shop.reviewsOfProducts(productIds)
  const userIds = listOf(query, 'userIds')
  if (userIds) return shop.reviewsByUsers(userIds)
  throw new HttpError(400, 'Name productIds or userIds, for example /reviews?userIds=1,2')
}

/** `?ids=1,2` and `?ids=1&ids=2` alike. */
function listOf(query: URLSearchParams, name: string): string[] | undefined {
  if (!query.has(name)) return undefined
  return query.getAll(name).flatMap((value) => value.split(',').filter((id) => id !== ''))
}

function param(params: Readonly<Record<string, string>>, name: string): string {
  return params[name] ?? ''
}
