import { gzipSync } from 'node:zlib'
import { createDisposables, startRestBackend, type RestHandler } from '@vinyasa/test-kit'
import { afterEach, describe, expect, it } from 'vitest'
import { boundedFetch, type BoundedFetchOptions } from '../src/http/bounded-fetch.ts'

const cleanup = createDisposables()
afterEach(() => cleanup.dispose())

const serve = async (handler: RestHandler) => cleanup.use(await startRestBackend(handler))

const get = async (url: string, options: Partial<BoundedFetchOptions> = {}) => {
  const { bytes, ...rest } = await boundedFetch(url, {
    maxBytes: 100_000,
    maxRedirects: 3,
    signal: AbortSignal.timeout(30_000),
    ...options,
  })
  return { ...rest, text: bytes.toString() }
}

async function* endless(size: number): AsyncGenerator<string> {
  for (;;) {
    yield 'x'.repeat(size)
    await new Promise(setImmediate)
  }
}

describe('response body', () => {
  it.each<[string, RestHandler, RegExp]>([
    ['an endless body', () => ({ body: endless(10_000) }), /larger than 100000 bytes/],
    [
      'a body that exceeds the limit after decompression',
      () => ({ headers: { 'content-encoding': 'gzip' }, body: gzipSync(Buffer.alloc(10_000_000)) }),
      /larger than 100000 bytes/,
    ],
    ['a body in one-byte chunks', () => ({ body: endless(1) }), /too many small chunks/],
  ])('refuses %s', async (_, handler, message) => {
    const { url } = await serve(handler)
    await expect(get(url)).rejects.toThrow(message)
  })

  it('reads a body of exactly the limit', async () => {
    const { url } = await serve(() => ({ body: 'x'.repeat(1000) }))
    expect((await get(url, { maxBytes: 1000 })).text).toBe('x'.repeat(1000))
    await expect(get(url, { maxBytes: 999 })).rejects.toThrow('larger than 999 bytes')
  })

  it('does not read the body for a limit of 0 or an error status', async () => {
    const { url } = await serve(({ url: { pathname } }) => ({
      status: pathname === '/fault' ? 500 : 200,
      body: endless(1000),
    }))
    expect(await get(url, { maxBytes: 0 })).toMatchObject({ ok: true, text: '' })
    expect(await get(`${url}/fault`)).toMatchObject({ ok: false, status: 500, text: '' })
  })
})

it('the signal cancels a stalled body', async () => {
  const controller = new AbortController()
  const { url } = await serve(() => ({
    write(response) {
      response.write('{')
      controller.abort(new Error('it is late'))
    },
  }))
  await expect(get(url, { signal: controller.signal })).rejects.toThrow('it is late')
})

describe('redirects', () => {
  const to =
    (location: string): RestHandler =>
    () => ({ status: 302, headers: { location } })

  it('follows redirects up to the limit and sends headers only to the first origin', async () => {
    const other = await serve(({ headers }) => ({ body: String(headers['x-key']) }))
    const home = await serve(({ url: { pathname }, headers }) =>
      pathname === '/2'
        ? { body: String(headers['x-key']) }
        : { status: 307, headers: { location: `${Number(pathname.slice(1)) + 1}` } },
    )
    const headers = { 'x-key': 'secret' }
    expect((await get(`${home.url}/0`, { headers, maxRedirects: 2 })).text).toBe('secret')
    await expect(get(`${home.url}/0`, { headers, maxRedirects: 1 })).rejects.toThrow('more than 1 times')
    home.handle(to(other.url))
    expect((await get(home.url, { headers })).text).toBe('undefined')
  })

  it('returns the redirect if the limit is 0', async () => {
    const { url } = await serve(to('/x'))
    expect(await get(url, { maxRedirects: 0 })).toMatchObject({ status: 302, ok: false, text: '' })
  })

  it('refuses other protocols and redirects that are not allowed', async () => {
    const { url } = await serve(to('data:application/json,{}'))
    await expect(get(url)).rejects.toThrow('expected an http or https address, got data:')
    await expect(get(url, { isAllowed: () => false })).rejects.toThrow('another server')
    await expect(get('file:///etc/hosts')).rejects.toThrow('got file:')
  })

  it('refuses redirects from https to http', async () => {
    const asked: string[] = []
    const fetch = async (address: string | URL | Request) => {
      asked.push(String(address))
      return Response.redirect('http://a.example/x')
    }
    await expect(get('https://a.example/', { fetch })).rejects.toThrow('from https to http://a.example')
    expect(asked).toEqual(['https://a.example/'])
  })
})
