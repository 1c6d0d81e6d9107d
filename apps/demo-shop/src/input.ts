import { HttpError } from './errors.ts'
import type { ProductChanges } from './shop.ts'
import type { Review } from './types.ts'

export interface SearchInput {
  readonly query: string
  readonly limit: number
}

export function parseSearch(body: unknown): SearchInput {
  const fields = parseObject(body)
  const limit = fields['limit'] ?? 10
  if (!isInteger(limit, 1, 100)) throw new HttpError(400, 'limit must be an integer from 1 to 100')
  return { query: fields['query'] === undefined ? '' : parseString(fields, 'query'), limit }
}

export function parseReview(body: unknown): Omit<Review, 'id'> {
  const fields = parseObject(body)
  const rating = fields['rating']
  if (!isInteger(rating, 1, 5)) throw new HttpError(400, 'rating must be an integer from 1 to 5')
  return {
    productId: parseString(fields, 'productId'),
    userId: parseString(fields, 'userId'),
    rating,
    text: parseString(fields, 'text'),
  }
}

/** Fields that are absent or null stay as they are. */
export function parseProductChanges(body: unknown): ProductChanges {
  const fields = parseObject(body)
  const price = fields['price'] ?? undefined
  if (price !== undefined && (typeof price !== 'number' || !(price >= 0))) {
    throw new HttpError(400, 'price must be a number of at least 0')
  }
  return {
    ...((fields['name'] ?? undefined) === undefined ? {} : { name: parseString(fields, 'name') }),
    ...((fields['description'] ?? undefined) === undefined
      ? {}
      : { description: parseString(fields, 'description') }),
    ...(price === undefined ? {} : { price }),
  }
}

function parseObject(body: unknown): Record<string, unknown> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new HttpError(400, 'The body must be a JSON object')
  }
  return { ...body }
}

function parseString(fields: Record<string, unknown>, name: string): string {
  const value = fields[name]
  if (typeof value !== 'string' || value === '')
    throw new HttpError(400, `${name} must be a string that is not empty`)
  return value
}

function isInteger(value: unknown, min: number, max: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
}
