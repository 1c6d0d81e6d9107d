export interface Product {
  readonly id: string
  readonly name: string
  readonly description: string
  /** In euros. */
  readonly price: number
  readonly category: string
}

export interface Review {
  readonly id: string
  readonly productId: string
  readonly userId: string
  /** 1 to 5. */
  readonly rating: number
  readonly text: string
}

export interface Stock {
  readonly productId: string
  readonly inStock: number
  readonly warehouse: string
}

export interface Deal {
  readonly product: Product
  readonly discountPercent: number
}
