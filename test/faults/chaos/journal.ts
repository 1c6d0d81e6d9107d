import { closeSync, openSync, readSync } from 'node:fs'
import type { Model } from './model.ts'

const LIST_SEPARATOR = ' | '

/** A list that grows, as one value. */
export const listValue = (texts: readonly string[]): string => texts.join(LIST_SEPARATOR)

/** Reads on in a file to which whole lines are added. */
function createTail(file: string): () => unknown[] {
  let offset = 0
  return () => {
    const descriptor = openSync(file, 'a+')
    const chunks: Buffer[] = []
    try {
      for (;;) {
        const chunk = Buffer.alloc(65_536)
        const count = readSync(descriptor, chunk, 0, chunk.length, offset)
        if (count === 0) break
        offset += count
        chunks.push(chunk.subarray(0, count))
      }
    } finally {
      closeSync(descriptor)
    }
    const text = Buffer.concat(chunks).toString('utf8')
    const complete = text.lastIndexOf('\n') + 1
    offset -= Buffer.byteLength(text.slice(complete))
    return text
      .slice(0, complete)
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as unknown)
  }
}

interface UserLine {
  readonly at: string
  readonly kind: number
  readonly user: { readonly id: string; readonly name: string }
}

interface ShopLine {
  readonly at: string
  readonly product?: { readonly id: string; readonly description: string }
  readonly review?: { readonly productId: string; readonly text: string }
}

/** Tells the model what the demo's backends wrote into their state files. */
export function createJournal(
  model: Model,
  files: { readonly users: string; readonly shop: string },
): () => void {
  const users = createTail(files.users)
  const shop = createTail(files.shop)
  return () => {
    for (const { at, kind, user } of users() as UserLine[]) {
      const time = Date.parse(at)
      if (kind === 1) {
        const count = String(Number(model.latest('users') ?? 0) + 1)
        model.commit({ key: 'users', token: user.name, value: count, at: time })
      } else {
        model.commit({ key: `user:${user.id}`, token: user.name, value: user.name, at: time })
      }
    }
    for (const { at, product, review } of shop() as ShopLine[]) {
      const time = Date.parse(at)
      if (product) {
        const { id, description } = product
        model.commit({ key: `product:${id}`, token: description, value: description, at: time })
      }
      if (review) {
        const key = `reviews:${review.productId}`
        const value = listValue([model.latest(key) ?? '', review.text])
        model.commit({ key, token: review.text, value, at: time })
      }
    }
  }
}
