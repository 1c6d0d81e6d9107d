import type { Product, Review } from './types.ts'

const ADJECTIVES = ['Sturdy', 'Light', 'Quiet', 'Warm', 'Folding']
const THINGS = [
  'Kettle',
  'Lamp',
  'Backpack',
  'Chair',
  'Clock',
  'Notebook',
  'Bicycle Bell',
  'Tent',
  'Mug',
  'Radio',
]
const CATEGORIES = [
  'kitchen',
  'home',
  'travel',
  'home',
  'home',
  'office',
  'travel',
  'travel',
  'kitchen',
  'home',
]
const VERDICTS = [
  'Broke at once.',
  'Not for me.',
  'Does what it should.',
  'Good value.',
  'I would buy it again.',
]

/** Products "1" to "50", the same ones at every start. */
export function seedProducts(): Product[] {
  return Array.from({ length: 50 }, (_, index) => {
    const adjective = at(ADJECTIVES, Math.floor(index / THINGS.length))
    const thing = at(THINGS, index)
    return {
      id: String(index + 1),
      name: `${adjective} ${thing}`,
      description: `A ${adjective.toLowerCase()} ${thing.toLowerCase()} that lasts.`,
      price: (((index * 737) % 9_000) + 499) / 100,
      category: at(CATEGORIES, index),
    }
  })
}

/** Three reviews a product, by users "1" to "100". */
export function seedReviews(): Review[] {
  return Array.from({ length: 150 }, (_, index) => {
    const verdict = (index * 7) % VERDICTS.length
    return {
      id: String(index + 1),
      productId: String(Math.floor(index / 3) + 1),
      userId: String(((index * 13) % 100) + 1),
      rating: verdict + 1,
      text: at(VERDICTS, verdict),
    }
  })
}

function at<T>(list: readonly T[], index: number): T {
  return list[index % list.length] as T
}
