import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { seedProducts, seedReviews } from './seed.ts'
import type { ShopChange, ShopState } from './shop.ts'

/** The seed with every change that the file holds; further changes are added to it, a line of JSON each. */
export function keptShop(file: string): ShopState {
  const products = new Map(seedProducts().map((product) => [product.id, product]))
  const reviews = seedReviews()
  for (const line of existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []) {
    if (line === '') continue
    const change = JSON.parse(line) as ShopChange
    if ('product' in change) products.set(change.product.id, change.product)
    else reviews.push(change.review)
  }
  return {
    products: [...products.values()],
    reviews,
    onChange: (change) => appendFileSync(file, `${JSON.stringify({ at: new Date(), ...change })}\n`),
  }
}
