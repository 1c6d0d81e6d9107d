import { HttpError } from './errors.ts'
import { seedProducts, seedReviews } from './seed.ts'
import type { Deal, Product, Review, Stock } from './types.ts'

export interface ProductChanges {
  readonly name?: string
  readonly description?: string
  readonly price?: number
}

export interface Shop {
  product(id: string): Product
  /** Products by ids; those that do not exist are left out. */
  products(ids: readonly string[]): Product[]
  search(query: string, limit: number): { total: number; items: Product[] }
  updateProduct(id: string, changes: ProductChanges): Product
  reviewsOfProducts(productIds: readonly string[]): Review[]
  reviewsByUsers(userIds: readonly string[]): Review[]
  createReview(review: Omit<Review, 'id'>): Review
  /** Fails with 503 twice for each product before it answers, then starts anew. */
  stock(productId: string): Stock
  dealOfTheDay(): Deal
}

/** What a shop holds, and who is told of its changes. */
export interface ShopState {
  readonly products: readonly Product[]
  readonly reviews: readonly Review[]
  /** Called before the change is answered. */
  readonly onChange?: ((change: ShopChange) => void) | undefined
}

/** What one change made: the product or the review as it is now. */
export type ShopChange = { readonly product: Product } | { readonly review: Review }

/** The shop's data, in memory. */
export function createShop(state: ShopState = { products: seedProducts(), reviews: seedReviews() }): Shop {
  const products = new Map(state.products.map((product) => [product.id, product]))
  const reviews = [...state.reviews]
  const stockAttempts = new Map<string, number>()

  function product(id: string): Product {
    const found = products.get(id)
    if (!found) throw new HttpError(404, `There is no product "${id}"`)
    return found
  }

  return {
    product,
    products: (ids) => [...new Set(ids)].flatMap((id) => products.get(id) ?? []),
    search(query, limit) {
      const wanted = query.trim().toLowerCase()
      const found = [...products.values()].filter(({ name, category }) =>
        `${name} ${category}`.toLowerCase().includes(wanted),
      )
      return { total: found.length, items: found.slice(0, limit) }
    },
    updateProduct(id, changes) {
      const updated = { ...product(id), ...changes }
      products.set(id, updated)
      state.onChange?.({ product: updated })
      return updated
    },
    reviewsOfProducts: (productIds) => reviews.filter(({ productId }) => productIds.includes(productId)),
    reviewsByUsers: (userIds) => reviews.filter(({ userId }) => userIds.includes(userId)),
    createReview(review) {
      product(review.productId)
      const created = { id: String(reviews.length + 1), ...review }
      reviews.push(created)
      state.onChange?.({ review: created })
      return created
    },
    stock(productId) {
      product(productId)
      const attempt = (stockAttempts.get(productId) ?? 0) + 1
      stockAttempts.set(productId, attempt % 3)
      if (attempt < 3) throw new HttpError(503, 'The warehouse does not answer, try again')
      return { productId, inStock: (Number(productId) * 17) % 40, warehouse: 'North' }
    },
    dealOfTheDay: () => ({ product: product('3'), discountPercent: 20 }),
  }
}
