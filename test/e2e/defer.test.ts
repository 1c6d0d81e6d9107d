import { createDisposables, requestMultipart } from '@vinyasa/test-kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningDemo, startDemo } from './support/demo.ts'

const disposables = createDisposables(afterAll)
let demo: RunningDemo

beforeAll(async () => {
  demo = disposables.use(await startDemo())
})

const queryOf = (id: string): string =>
  `{ user(id: "${id}") { name ... @defer(label: "slow") { profile { location } } } getProduct(id: "1") { id } }`

describe('@defer', () => {
  it.each([
    ['/graphql', 'multipart/mixed', '2', 'Grace Ahlberg', 'Lima'],
    ['/graphql/defer', '*/*', '3', 'Alan Ahlberg', 'Osaka'],
  ])(
    '%s sends the fast fields of both backends before the slow join',
    async (path, accept, id, name, location) => {
      const response = disposables.use(
        await requestMultipart(demo.url + path, { headers: { accept }, body: { query: queryOf(id) } }),
      )
      expect([response.status, response.boundary]).toEqual([200, '-'])
      const [first, second, ...others] = await response.allParts()
      expect(first!.json()).toEqual({
        data: { user: { name }, getProduct: { id: '1' } },
        hasNext: true,
      })
      expect(second!.json()).toEqual({
        incremental: [{ data: { profile: { location } }, path: ['user'], label: 'slow' }],
        hasNext: false,
      })
      expect(others).toEqual([])
      expect(second!.at - first!.at).toBeGreaterThan(150)
      expect(await response.ended).toEqual({ complete: true })
    },
  )

  it('is one plain answer for a client that does not take multipart', async () => {
    const answer = await demo.query(queryOf('2'))
    expect(answer).toMatchObject({ status: 200, errors: [] })
    expect(answer.data).toEqual({
      user: { name: 'Grace Ahlberg', profile: { location: 'Lima' } },
      getProduct: { id: '1' },
    })
  })
})
