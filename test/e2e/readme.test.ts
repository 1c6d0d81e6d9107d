import { readFile } from 'node:fs/promises'
import { createDisposables } from '@vinyasa/test-kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningDemo, startDemo } from './support/demo.ts'

const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8')
const queries = [...readme.matchAll(/```graphql\n(.*?)```/gs)].map(([, query = '']) => query)
const mutations = [...readme.matchAll(/^# (mutation .*)$/gm)].map(([, mutation = '']) => mutation)

describe("the README's operations run on the demo", () => {
  const disposables = createDisposables(afterAll)
  let demo: RunningDemo
  beforeAll(async () => {
    demo = disposables.use(await startDemo())
  })

  it('has three queries and a mutation', () => {
    expect([queries.length, mutations.length]).toEqual([3, 1])
  })

  it.each([...queries, ...mutations])('%s', async (operation) => {
    const { data, errors } = await demo.query(operation)
    expect(errors).toEqual([])
    expect(JSON.stringify(data)).not.toContain('null')
  })
})
