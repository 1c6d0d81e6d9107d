import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDisposables } from '@vinyasa/test-kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startGoGateway } from './interop-servers.ts'
import { initialise, openGateway, vinyasa, type LiveGateway } from './live-gateway.ts'

// A server that describes itself: `vinyasa init` with its address, and nothing by hand.

const opened = createDisposables(afterAll)

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'vinyasa-reflected-'))
  opened.use(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

describe('a Go server with annotations of grpc-gateway', () => {
  const folder = emptyFolder()
  const name = 'shelves/1/books/2'
  let gateway: LiveGateway

  beforeAll(async () => {
    const server = opened.use(await startGoGateway(emptyFolder()))
    await initialise(folder, `127.0.0.1:${server.ready?.[1]}`)
    gateway = opened.use(await openGateway(folder))
  })

  it('check: what the annotations map to GET is a query', async () => {
    const { code, out } = await vinyasa(folder, 'check')
    expect([code, out]).toEqual([0, expect.stringMatching(/^source .*: ok$/m)])
    expect(out).toContain('1 queries, 1 mutations, 1 subscriptions')
  })

  it('write, read, stream, and an error', async () => {
    const book = { name, pages: ['one', ''], copies: '9007199254740993' }
    const fields = 'name pages copies'
    const written = await gateway.ask(
      `mutation ($pages: [String!]) { writeBook(name: "${name}", pages: $pages, copies: "${book.copies}") { ${fields} } }`,
      { pages: book.pages },
    )
    expect(written).toEqual({ data: { writeBook: book } })
    const read = `query ($name: String) { showBook(name: $name) { ${fields} } }`
    expect(await gateway.ask(read, { name })).toEqual({ data: { showBook: book } })
    const pages = await gateway.listen(`subscription { readPages(name: "${name}") { number text } }`)
    const said = await pages.rest()
    expect([...said.matchAll(/"readPages":(\{[^}]*\})/g)].map(([, page]) => JSON.parse(page!))).toEqual([
      { number: 0, text: 'one' },
      { number: 1, text: '' },
    ])
    const { errors } = await gateway.ask(read, { name: 'none' })
    expect(errors[0].extensions.code).toBe('NOT_FOUND')
  })
})
