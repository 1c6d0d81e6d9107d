import { createDisposables } from '@vinyasa/test-kit'
import { serverAudits } from 'graphql-http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningDemo, startDemo } from '../e2e/support/demo.ts'

const disposables = createDisposables(afterAll)
let demo: RunningDemo

beforeAll(async () => {
  demo = disposables.use(await startDemo())
})

const audits = serverAudits({ url: () => `${demo.url}/graphql`, fetchFn: fetch })

describe('GraphQL over HTTP, as graphql-http audits it', () => {
  it('has 61 audits', () => expect(audits).toHaveLength(61))

  it.each(audits.map((audit) => [audit.id, audit.name, audit] as const))(
    '%s %s',
    async (_id, _name, audit) => {
      const result = await audit.fn()
      expect(result).toMatchObject({ status: 'ok' })
    },
  )
})
