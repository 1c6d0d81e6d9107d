import { AUDIENCE, startIssuer } from '@vinyasa/test-kit'
import { expect, it, onTestFinished } from 'vitest'
import { createLogger } from '../../src/logging/logger.ts'
import { post, startGateway } from '../support/gateway.ts'

it('logs, once for all of a second, who issued tokens that no issuer of the config has, and no token', async () => {
  const issuer = await startIssuer()
  onTestFinished(() => issuer[Symbol.asyncDispose]())
  const lines: string[] = []
  const logger = await createLogger({ destination: { write: (line) => lines.push(line) } })
  const { endpoint } = await startGateway(
    {
      typeDefs: 'type Query { a: Int }',
      auth: { jwt: { issuers: [{ issuer: issuer.url, audience: AUDIENCE }] } },
    },
    { logger },
  )
  const others = [
    `${issuer.url}/`,
    'x'.repeat(1000),
    ...Array.from({ length: 10 }, (_, at) => `https://${at}`),
  ]
  const sent = [...others, ...others].map((iss) => issuer.token({ claims: { iss } }))
  for (const token of sent) {
    const response = await post(endpoint, { query: '{ a }' }, { authorization: `Bearer ${token}` })
    expect([response.status, await response.text()]).toEqual([
      401,
      expect.stringContaining('names an unknown issuer'),
    ])
  }
  const told = (): any[] =>
    lines.filter((line) => line.includes('refused tokens whose claim')).map((line) => JSON.parse(line))
  await expect.poll(told, { timeout: 5000 }).not.toEqual([])
  expect(told()[0]).toMatchObject({
    level: 40,
    issuers: [`${issuer.url}/`, 'x'.repeat(200), 'https://0', 'https://1', 'https://2'],
    known: [issuer.url],
  })
  expect(told().length).toBeLessThan(others.length)
  for (const token of sent) expect(lines.join('')).not.toContain(token.split('.')[2])
})
