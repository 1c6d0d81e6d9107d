import { connectRawWebSocket, startGrpcBackend, startRestBackend } from '@vinyasa/test-kit'
import { expect, it, onTestFinished } from 'vitest'
import { describeWithBrowser, keepPicture, openPage } from '../support/browser.ts'
import { createGateway } from '../../src/gateway.ts'
import { createLogger } from '../../src/logging/logger.ts'
import { OWN_SCHEMA, post, startGateway } from '../support/gateway.ts'

const PROTO = `
  syntax = "proto3";
  package people.v1;
  message GetPersonRequest { string id = 1; }
  message Person { string id = 1; string name = 2; }
  service People {
    rpc GetPerson(GetPersonRequest) returns (Person) { option idempotency_level = NO_SIDE_EFFECTS; }
  }`
const PATIENCE = { timeout: 20_000 }
const SECRET = 'c4n4ry-5ecret'

async function stage() {
  const grpc = await startGrpcBackend({
    protos: PROTO,
    handlers: { 'people.v1.People/GetPerson': ({ id }) => ({ id, name: 'Ada' }) },
  })
  const rest = await startRestBackend(({ rawUrl }) =>
    rawUrl.startsWith('/broken') ? { status: 500, json: { error: SECRET } } : { json: { stars: 5 } },
  )
  onTestFinished(async () => {
    await grpc.stop()
    await rest.stop()
  })
  const running = await startGateway({
    responseCache: true,
    grpc: { people: { endpoint: grpc.address, protoText: { 'people.proto': PROTO }, expose: 'all' } },
    rest: {
      ratings: {
        baseUrl: rest.url,
        healthPath: '/health',
        retry: { maxRetries: 0 },
        endpoints: [
          { name: 'rating', path: '/rating', liveQuery: { enabled: true } },
          { name: 'broken', path: '/broken', args: { note: 'String' }, queryParams: { note: '{note}' } },
        ],
      },
    },
  })
  const opened = await openPage()
  await opened.page.goto(`${running.server.url}/status`)
  return { ...running, ...opened, grpc, rest }
}

describeWithBrowser('the status page in a browser without the internet', () => {
  it('shows, without a reload, what happens on the gateway', async () => {
    const { page, outside, errors, endpoint, rest, server } = await stage()
    const text = (selector: string): Promise<string> => page.locator(selector).innerText()
    await expect.poll(() => text('#connection'), PATIENCE).toBe('live')
    expect(await text('h1')).toBe('Both backends are up.')
    await keepPicture(page, 'status-idle')

    await (await post(endpoint, { query: '{ rating }' })).text()
    await expect.poll(() => text('#hit-rate'), PATIENCE).toBe('0 %')
    await (await post(endpoint, { query: '{ rating }' })).text()
    await expect.poll(() => text('#hit-rate'), PATIENCE).toBe('50 %')
    expect(await page.locator('.bar').isVisible()).toBe(true)
    expect(await text('#requests')).toBe('2')
    expect(await text('#backends')).toMatch(/ratings REST\s+up\s+1\s+0/)

    const sockets = await Promise.all(
      [1, 2].map(() => connectRawWebSocket(`${endpoint}/live`, { protocol: 'graphql-transport-ws' })),
    )
    for (const socket of sockets) {
      socket.sendJson({ type: 'connection_init' })
      await socket.next()
      socket.sendJson({ id: 'a', type: 'subscribe', payload: { query: 'query @live { rating }' } })
    }
    await expect.poll(() => text('#subscribers'), PATIENCE).toBe('2')
    expect(await text('#live-note')).toMatch(/^in 1 group,/)

    const query = 'query Trouble($note: String) { broken(note: $note) }'
    const headers = { authorization: SECRET }
    await (await post(endpoint, { query, variables: { note: SECRET } }, headers)).text()
    await (await post(endpoint, { query: '{ nope }' })).text()
    await expect
      .poll(() => text('#errors'), PATIENCE)
      .toMatch(/GRAPHQL_VALIDATION_FAILED[^]*Trouble › broken/)
    await keepPicture(page, 'status-busy')

    await rest.stop()
    await expect.poll(() => text('h1'), PATIENCE).toBe('ratings is down.')
    expect(await text('#backends')).toMatch(/people gRPC\s+up[^]*ratings REST\s+down\s+.*ECONNREFUSED/)
    await keepPicture(page, 'status-down')
    await page.emulateMedia({ colorScheme: 'dark' })
    await keepPicture(page, 'status-dark')
    await page.setViewportSize({ width: 360, height: 900 })
    await keepPicture(page, 'status-narrow-dark')
    await page.emulateMedia({ colorScheme: 'light' })
    await keepPicture(page, 'status-narrow')
    const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
    expect(overflow).toBe(0)

    expect(await page.content()).not.toContain(SECRET)
    expect(outside).toEqual([])
    expect(errors).toEqual([])

    for (const socket of sockets) await socket.close()
    const next = await createGateway(OWN_SCHEMA, {
      baseDirectory: '/',
      logger: await createLogger({ level: 'silent' }),
    })
    await server.replace(next)
    await expect.poll(() => text('h1'), PATIENCE).toBe('The gateway is up.')
    expect(await text('#connection')).toBe('live')

    await next.close()
    await server.close({ graceMs: 1 })
    await expect.poll(() => text('#connection'), PATIENCE).toBe('no connection')
    expect(await text('h1')).toBe('The gateway does not respond. Reconnecting.')
  }, 90_000)

  it('is let by its policy neither to load nor to run anything of somebody else', async () => {
    const { page, server } = await stage()
    const blocked: string[] = []
    page.on('console', (message) => blocked.push(message.text()))
    await page.evaluate(`{
      const script = document.createElement('script')
      script.textContent = 'globalThis.ran = true'
      document.body.append(script)
      document.body.append(Object.assign(new Image(), { src: '${server.url.replace('127.0.0.1', 'localhost')}/x.png' }))
      void fetch('http://127.0.0.1:9/').catch(() => {})
    }`)
    await expect.poll(() => blocked.length, PATIENCE).toBeGreaterThan(2)
    expect(await page.evaluate('globalThis.ran')).toBeUndefined()
    expect(blocked.filter((line) => /Content Security Policy/.test(line)).length).toBeGreaterThan(2)
  }, 60_000)
})
