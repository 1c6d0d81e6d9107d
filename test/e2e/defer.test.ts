import { createDisposables, requestMultipart } from '@vinyasa/test-kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningDemo, startDemo } from './support/demo.ts'

const disposables = createDisposables(afterAll)
let demo: RunningDemo

beforeAll(async () => {
  demo = disposables.use(await startDemo())
})

const query =
  '{ user(id: "2") { name ... @defer(label: "slow") { profile { location } } } getProduct(id: "1") { id } }'

describe('@defer', () => {
  it.each([
    ['/graphql', 'multipart/mixed'],
    ['/graphql/defer', '*/*'],
  ])('%s sends the fast fields of both backends before the slow join', async (path, accept) => {
    const response = disposables.use(
      await requestMultipart(demo.url + path, { headers: { accept }, body: { query } }),
    )
    expect([response.status, response.boundary]).toEqual([200, '-'])
    const [first, second, ...others] = await response.allParts()
    expect(first!.json()).toEqual({
      data: { user: { name: 'Grace Ahlberg' }, getProduct: { id: '1' } },
      hasNext: true,
    })
    expect(second!.json()).toEqual({
      incremental: [{ data: { profile: { location: 'Lima' } }, path: ['user'], label: 'slow' }],
      hasNext: false,
    })
    expect(others).toEqual([])
    expect(second!.at - first!.at).toBeGreaterThan(150)
    expect(await response.ended).toEqual({ complete: true })
  })

  it('is one plain answer for a client that does not take multipart', async () => {
    const answer = await demo.query(query)
    expect(answer).toMatchObject({ status: 200, errors: [] })
    expect(answer.data).toEqual({
      user: { name: 'Grace Ahlberg', profile: { location: 'Lima' } },
      getProduct: { id: '1' },
    })
  })
})
