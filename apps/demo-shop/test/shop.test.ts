import { createDisposables } from '@vinyasa/test-kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startShopServer } from '../src/server.ts'

const disposables = createDisposables(afterAll)
let url: string

beforeAll(async () => {
  url = disposables.use(await startShopServer({ host: '127.0.0.1', port: 0 })).url
})

async function ask(method: string, path: string, body?: unknown): Promise<[number, any]> {
  const init = body === undefined ? { method } : { method, body: JSON.stringify(body) }
  const response = await fetch(url + path, init)
  return [response.status, await response.json()]
}

describe('the shop', () => {
  it('has products "1" to "50", the same at every start', async () => {
    expect(await ask('GET', '/products/1')).toEqual([
      200,
      {
        id: '1',
        name: 'Sturdy Kettle',
        description: 'A sturdy kettle that lasts.',
        price: 4.99,
        category: 'kitchen',
      },
    ])
    const [, batch] = await ask('GET', '/products?ids=50,x,2&ids=2')
    expect(batch.map(({ id }: { id: string }) => id)).toEqual(['50', '2'])
  })

  it('searches by name and category', async () => {
    const [status, { total, items }] = await ask('POST', '/products/search', { query: 'Lamp', limit: 2 })
    expect([status, total, items.length]).toEqual([200, 5, 2])
    expect((await ask('POST', '/products/search', {}))[1].items.length).toBe(10)
  })

  it('has reviews by product and by user, and takes new ones', async () => {
    const [, ofProduct] = await ask('GET', '/products/2/reviews')
    expect(ofProduct.length).toBe(3)
    const [status, created] = await ask('POST', '/reviews', {
      productId: '2',
      userId: '77',
      rating: 5,
      text: 'Fine.',
    })
    expect([status, created]).toEqual([
      201,
      { id: '151', productId: '2', userId: '77', rating: 5, text: 'Fine.' },
    ])
    expect((await ask('GET', '/products/2/reviews'))[1]).toEqual([...ofProduct, created])
    const [, byUsers] = await ask('GET', '/reviews?userIds=77,1')
    expect(byUsers).toContainEqual(created)
    expect(new Set(byUsers.map(({ userId }: { userId: string }) => userId))).toEqual(new Set(['77', '1']))
    expect((await ask('GET', '/reviews?productIds=2,3'))[1].length).toBe(7)
  })

  it('changes what is given of a product', async () => {
    const [, before] = await ask('GET', '/products/9')
    expect(await ask('PATCH', '/products/9', { price: 1.5, name: null })).toEqual([
      200,
      { ...before, price: 1.5 },
    ])
    expect(await ask('GET', '/products/9')).toEqual([200, { ...before, price: 1.5 }])
  })

  it('answers 503 twice before it tells the stock', async () => {
    const statuses: number[] = []
    for (let attempt = 0; attempt < 6; attempt++) statuses.push((await ask('GET', '/products/4/stock'))[0])
    expect(statuses).toEqual([503, 503, 200, 503, 503, 200])
  })

  it('wraps the deal of the day', async () => {
    const [, body] = await ask('GET', '/deals/today')
    expect(body).toMatchObject({ data: { items: [{ product: { id: '3' }, discountPercent: 20 }] } })
  })

  it.each([
    ['GET', '/products/x', undefined, 404, 'There is no product "x"'],
    ['GET', '/nope', undefined, 404, 'There is nothing here'],
    ['DELETE', '/products/1', undefined, 405, 'DELETE is not served here'],
    ['GET', '/products/%E0', undefined, 400, 'The path is not valid percent-encoding'],
    ['GET', '/reviews', undefined, 400, 'Name productIds or userIds, for example /reviews?userIds=1,2'],
    ['POST', '/reviews', [], 400, 'The body must be a JSON object'],
    ['POST', '/reviews', { rating: 6 }, 400, 'rating must be an integer from 1 to 5'],
    ['POST', '/products/search', { limit: 0 }, 400, 'limit must be an integer from 1 to 100'],
    ['PATCH', '/products/1', { price: -1 }, 400, 'price must be a number of at least 0'],
    ['POST', '/reviews', 'x'.repeat(70_000), 413, 'The body has more than 65536 bytes'],
  ])('refuses %s %s %j with %i', async (method, path, body, status, error) => {
    expect(await ask(method, path, body)).toEqual([status, { error }])
  })
})
