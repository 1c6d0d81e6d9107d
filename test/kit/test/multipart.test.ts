import { describe, expect, it, onTestFinished } from 'vitest'
import {
  createDisposables,
  requestMultipart,
  type RestAnswer,
  startRestBackend,
  waitUntil,
} from '../src/index.ts'

const multipart = { 'content-type': 'multipart/mixed; boundary="-"' }

async function open(answer: RestAnswer) {
  const disposables = createDisposables(onTestFinished)
  const backend = disposables.use(await startRestBackend(() => answer))
  const response = disposables.use(await requestMultipart(backend.url, { body: { query: '{ a }' } }))
  return { backend, response }
}

function gate() {
  let open = (): void => {}
  const passed = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open: () => open(), passed }
}

describe('requestMultipart', () => {
  it('gives each part at the moment its ending delimiter arrives, with headers and exact bytes', async () => {
    const second = gate()
    async function* body() {
      yield '---\r\nContent-Type: application/json; charset=utf-8\r\n\r\n{"data":{"a":"é"},"has'
      yield 'Next":true}\r\n--'
      yield '-'
      yield '\r\n'
      await second.passed
      yield 'X: 1\r\n\r\n{"hasNext":false}\r\n-----\r\n'
    }
    const { backend, response } = await open({ headers: multipart, body: body() })
    expect(response.boundary).toBe('-')
    const first = await response.nextPart()
    expect(first.json()).toEqual({ data: { a: 'é' }, hasNext: true })
    expect(first.headers).toEqual({ 'content-type': 'application/json; charset=utf-8' })
    expect(response.parts.length).toBe(1)
    second.open()
    expect((await response.allParts()).map((part) => part.text)).toEqual([
      '{"data":{"a":"é"},"hasNext":true}',
      '{"hasNext":false}',
    ])
    expect(response.parts[1]!.at).toBeGreaterThanOrEqual(first.at)
    expect(await response.ended).toEqual({ complete: true })
    expect(await response.text()).toContain('\r\n-----\r\n')
    expect(backend.requests[0]!.headers).toMatchObject({
      accept: 'multipart/mixed',
      'content-type': 'application/json',
    })
  })

  it('says so when the closing delimiter is missing', async () => {
    const { response } = await open({ headers: multipart, body: '---\r\n\r\n{}\r\n---\r\n\r\n{"cut' })
    expect((await response.allParts()).map((part) => part.text)).toEqual(['{}'])
    expect(await response.ended).toEqual({ complete: false })
  })

  it('keeps the bytes of an answer that is not multipart', async () => {
    const { response } = await open({ status: 400, json: { errors: [] } })
    expect([response.status, response.boundary, await response.text()]).toEqual([
      400,
      undefined,
      '{"errors":[]}',
    ])
    expect(response.parts).toEqual([])
  })

  it('can leave in the middle', async () => {
    async function* body() {
      yield '---\r\n\r\n{}\r\n---'
      yield '\r\n'
      await new Promise(() => {})
    }
    const { backend, response } = await open({ headers: multipart, body: body() })
    await response.nextPart()
    response.abort()
    await waitUntil(() => backend.requests[0]!.signal.aborted)
    expect(await response.ended).toEqual({ complete: false })
  })
})
