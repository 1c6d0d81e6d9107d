import { createDisposables } from '@vinyasa/test-kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningDemo, startDemo } from './support/demo.ts'

const disposables = createDisposables(afterAll)
let demo: RunningDemo

beforeAll(async () => {
  demo = disposables.use(await startDemo())
})

describe('the gateway in front of a gRPC service and a REST API', () => {
  it('answers from both backends in one response', async () => {
    const answer = await demo.query(
      '{ users(status: ONLINE) { users { id name status } totalCount } getProduct(id: "1") { id name price } }',
    )
    expect(answer).toMatchObject({ status: 200, errors: [] })
    expect(answer.data.users.totalCount).toBe(50)
    expect(answer.data.users.users.slice(0, 2)).toEqual([
      { id: '1', name: 'Ada Ahlberg', status: 'ONLINE' },
      { id: '3', name: 'Alan Ahlberg', status: 'ONLINE' },
    ])
    expect(answer.data.getProduct).toEqual({ id: '1', name: 'Sturdy Kettle', price: 4.99 })
  })

  it('a gRPC mutation changes what the next query returns', async () => {
    const read = async () => (await demo.query('{ user(id: "10") { name status createdAt } }')).data.user
    const before = await read()
    const written = await demo.query(
      'mutation ($name: String) { updateUser(id: "10", name: $name, status: AWAY) { id name status } }',
      { name: 'Renamed' },
    )
    expect(written).toMatchObject({
      errors: [],
      data: { updateUser: { id: '10', name: 'Renamed', status: 'AWAY' } },
    })
    expect(await read()).toEqual({ ...before, name: 'Renamed', status: 'AWAY' })
  })

  it('creates and deletes through gRPC; what is gone is NOT_FOUND', async () => {
    const created = await demo.query(
      'mutation { createUser(name: "New", email: "new@example.com") { id status } }',
    )
    expect(created).toMatchObject({ errors: [], data: { createUser: { status: 'OFFLINE' } } })
    const { id } = created.data.createUser
    const found = await demo.query('query ($id: String!) { user(id: $id) { name } }', { id })
    expect(found.data).toEqual({ user: { name: 'New' } })
    await demo.query('mutation ($id: String!) { deleteUser(id: $id) { id } }', { id })
    const gone = await demo.query('query ($id: String!) { user(id: $id) { name } }', { id })
    expect(gone.data).toEqual({ user: null })
    expect(gone.errors).toMatchObject([{ path: ['user'], extensions: { code: 'NOT_FOUND' } }])
  })

  it('a REST mutation changes what the next query returns', async () => {
    const written = await demo.query('mutation { updateProduct(id: "7", price: 12.5) { id price } }')
    expect(written).toMatchObject({ errors: [], data: { updateProduct: { id: '7', price: 12.5 } } })
    const read = await demo.query('{ getProduct(id: "7") { name price } }')
    expect(read.data).toEqual({ getProduct: { name: 'Sturdy Bicycle Bell', price: 12.5 } })

    const reviews = async () =>
      (await demo.query('{ listReviews(productId: "7") { text rating } }')).data.listReviews
    const before = await reviews()
    const review = await demo.query(
      'mutation { createReview(productId: "7", userId: "2", rating: 4, text: "Dry.") { id rating } }',
    )
    expect(review).toMatchObject({ errors: [], data: { createReview: { rating: 4 } } })
    expect(await reviews()).toEqual([...before, { text: 'Dry.', rating: 4 }])
  })

  it('searches by POST as a query', async () => {
    const answer = await demo.query('{ searchProducts(query: "lamp", limit: 2) { id name } }')
    expect(answer).toMatchObject({ errors: [] })
    expect(answer.data.searchProducts).toEqual([
      { id: '2', name: 'Sturdy Lamp' },
      { id: '12', name: 'Light Lamp' },
    ])
  })

  it('joins both ways: reviews of users, authors of reviews, profiles', async () => {
    const answer = await demo.query(`{
      user(id: "1") { reviews { productId author { id name } } profile { bio } }
      listReviews(productId: "1") { author { id reviews { id } } }
    }`)
    expect(answer.errors).toEqual([])
    expect(answer.data.user.profile).toEqual({ bio: 'Ada Ahlberg likes climbing and gardening.' })
    expect(answer.data.user.reviews[0]).toEqual({ productId: '1', author: { id: '1', name: 'Ada Ahlberg' } })
    const authors = answer.data.listReviews.map(({ author }: any) => author.id)
    expect(authors).toEqual(['1', '14', '27'])
    expect(answer.data.listReviews[0].author.reviews.length).toBeGreaterThan(0)
  })

  it('outlasts an endpoint that answers 503 twice', async () => {
    const answer = await demo.query('{ getStock(id: "5") { inStock warehouse } }')
    expect(answer).toMatchObject({ errors: [], data: { getStock: { inStock: 5, warehouse: 'North' } } })
  })

  it('takes a payload from under $.data.items[0]', async () => {
    const answer = await demo.query('{ dealOfTheDay { discountPercent product { id } } }')
    expect(answer).toMatchObject({
      errors: [],
      data: { dealOfTheDay: { discountPercent: 20, product: { id: '3' } } },
    })
  })

  it('keeps 64-bit numbers exact', async () => {
    const answer = await demo.query('{ serverStats { rpcCount memoryBytes uptimeSeconds userCount } }')
    expect(answer.errors).toEqual([])
    expect(answer.data.serverStats).toMatchObject({
      rpcCount: expect.stringMatching(/^\d+$/),
      memoryBytes: expect.stringMatching(/^\d+$/),
      userCount: 100,
    })
  })

  it('is alive and ready', async () => {
    for (const path of ['/health/live', '/health/ready']) {
      expect([path, (await fetch(demo.url + path)).status]).toEqual([path, 200])
    }
  })

  it('shows GraphiQL to browsers', async () => {
    const page = await fetch(`${demo.url}/graphql`, { headers: { accept: 'text/html' } })
    expect([page.status, page.headers.get('content-type')]).toEqual([
      200,
      expect.stringContaining('text/html'),
    ])
    expect(await page.text()).toMatch(/graphiql/i)
  })
})
