// A shop in four services, users, products, reviews and inventory, and a query that goes to and fro between them: the shape
// of the query that federation gateways are compared by. Of our own making are the data, the names and the sentences.

export interface User {
  readonly id: string
  readonly name: string
  readonly username: string
}

export interface Product {
  readonly upc: string
  readonly name: string
  readonly price: number
  readonly weight: number
}

export interface Review {
  readonly id: string
  readonly body: string
  readonly authorId: string
  readonly productUpc: string
}

export interface Stock {
  readonly upc: string
  readonly inStock: boolean
  readonly shippingEstimate: number
}

const NAMES = ['Asha', 'Bruno', 'Chidi', 'Dagny', 'Emre', 'Freya']
const GOODS = ['Kettle', 'Lantern', 'Rug', 'Stool', 'Clock', 'Vase', 'Shelf', 'Lamp', 'Basket']
const SENTENCES = [
  'It does what it should, and it does so every day.',
  'The colour is not the one of the picture.',
  'A present that was much liked.',
  'It came late, but in one piece.',
]
const REVIEWS = 25

const at = <T>(list: readonly T[], index: number): T => list[index % list.length] as T

export const users: readonly User[] = NAMES.map((name, index) => ({
  id: String(index + 1),
  name: `${name} of house ${index + 1}`,
  username: name.toLowerCase(),
}))

export const products: readonly Product[] = GOODS.map((name, index) => ({
  upc: `upc-${index + 1}`,
  name,
  price: 10 + index * 7.5,
  weight: 100 + index * 40,
}))

export const reviews: readonly Review[] = Array.from({ length: REVIEWS }, (_, index) => ({
  id: `review-${index + 1}`,
  body: at(SENTENCES, index),
  authorId: at(users, index).id,
  productUpc: at(products, index * 4 + Math.floor(index / 9)).upc,
}))

export const userOf = (id: string): User => users.find((user) => user.id === id) as User
export const productOf = (upc: string): Product => products.find((product) => product.upc === upc) as Product

export function stockOf(upc: string): Stock {
  const { price, weight } = productOf(upc)
  return { upc, inStock: weight % 80 === 20, shippingEstimate: price > 50 ? 0 : weight / 2 }
}

export const reviewsBy = (authorId: string): Review[] =>
  reviews.filter((review) => review.authorId === authorId)
export const reviewsOf = (upc: string): Review[] => reviews.filter((review) => review.productUpc === upc)

export const query = `
  query Shop {
    users { items { ...person reviews { ...words product { ...goods reviews { ...words author { ...person reviews { ...words product { ...goods } } } } } } } }
    topProducts(limit: 5) { items { ...goods reviews { ...words author { ...person reviews { ...words product { ...goods } } } } } }
  }
  fragment person on User { id name username }
  fragment words on Review { id body }
  fragment goods on Product { upc name price weight inventory { inStock shippingEstimate } }
`

const words = ({ id, body }: Review): object => ({ id, body })

function goods(product: Product): object {
  const { inStock, shippingEstimate } = stockOf(product.upc)
  return { ...product, inventory: { inStock, shippingEstimate } }
}

const aboutGoods = (review: Review): object => ({
  ...words(review),
  product: goods(productOf(review.productUpc)),
})

function aboutAuthor(review: Review): object {
  const author = userOf(review.authorId)
  return { ...words(review), author: { ...author, reviews: reviewsBy(author.id).map(aboutGoods) } }
}

const reviewed = (product: Product): object => ({
  ...goods(product),
  reviews: reviewsOf(product.upc).map(aboutAuthor),
})

/** What is right, in the order in which it is asked. */
export const answer: object = {
  data: {
    users: {
      items: users.map((user) => ({
        ...user,
        reviews: reviewsBy(user.id).map((review) => ({
          ...words(review),
          product: reviewed(productOf(review.productUpc)),
        })),
      })),
    },
    topProducts: { items: products.slice(0, 5).map(reviewed) },
  },
}
