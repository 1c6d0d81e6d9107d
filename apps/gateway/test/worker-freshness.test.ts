import { writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { spawnProcess, startRestBackend, temporaryFolder } from '@vinyasa/test-kit'
import { expect, it, onTestFinished } from 'vitest'

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const ROUNDS = 6
const READS = 20

/** One request, by default over a connection of its own: the primary hands connections to the workers in turn. */
function ask(
  url: string,
  query: string,
  agent: Agent = new Agent({ keepAlive: false }),
): Promise<{ cache: string; name: unknown }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        agent,
      },
      async (answer) => {
        let text = ''
        for await (const chunk of answer) text += String(chunk)
        const { data } = JSON.parse(text) as { data: Record<string, { name: unknown }> }
        resolve({ cache: String(answer.headers['x-cache']), name: Object.values(data)[0]?.name })
      },
    )
    outgoing.on('error', reject)
    outgoing.end(JSON.stringify({ query }))
  })
}

/** Two workers, both of them ready. */
async function startWorkers() {
  let name = 'name 0'
  const backend = await startRestBackend(({ method, body }) => {
    if (method === 'PUT') ({ name } = JSON.parse(String(body)) as { name: string })
    return { json: { id: '1', name } }
  })
  onTestFinished(() => backend.stop())
  const responseSchema = { typeName: 'Thing', fields: { id: 'id', name: 'string' } }
  const config = {
    log: { format: 'json' },
    server: { port: 0 },
    responseCache: true,
    rest: {
      things: {
        baseUrl: backend.url,
        endpoints: [
          { name: 'thing', path: '/things/1', responseSchema },
          {
            name: 'renameThing',
            method: 'PUT',
            path: '/things/1',
            args: { name: 'String!' },
            responseSchema,
          },
        ],
      },
    },
  }
  const file = join(await temporaryFolder('workers'), 'gateway.config.json')
  await writeFile(file, JSON.stringify(config))
  const gateway = await spawnProcess({
    command: process.execPath,
    args: [MAIN, 'start', '--config', file, '--workers', '2'],
    ready: /"url":"(http:[^"]+)\/graphql".*"msg":"gateway ready"/,
  })
  onTestFinished(() => gateway[Symbol.asyncDispose]())
  const url = `${gateway.ready?.[1]}/graphql`
  const ready = (): number => gateway.lines.filter((line) => line.includes('gateway ready')).length
  await expect.poll(ready, { timeout: 40_000 }).toBe(2)
  return { gateway, url, read: () => ask(url, '{ thing { name } }') }
}

it('after a mutation no worker gives an old answer, without Redis', { timeout: 120_000 }, async () => {
  const { url, read } = await startWorkers()
  let hits = 0
  for (let round = 1; round <= ROUNDS; round++) {
    // Both workers hold the old value now.
    for (let count = 0; count < 4; count++) await read()
    const next = `name ${round}`
    await ask(url, `mutation { renameThing(name: "${next}") { name } }`)
    const answers = await Promise.all(Array.from({ length: READS }, read))
    expect(answers.filter((answer) => answer.name !== next)).toEqual([])
    hits += answers.filter(({ cache }) => cache === 'HIT').length
  }
  expect(hits).toBeGreaterThan(0)
})

it(
  'a mutation is answered while the first process is stopped, and old by nobody after it',
  {
    timeout: 120_000,
  },
  async () => {
    const { gateway, url, read } = await startWorkers()
    const agents = [1, 2].map(() => new Agent({ keepAlive: true, maxSockets: 1 }))
    onTestFinished(() => agents.forEach((agent) => agent.destroy()))
    // One connection to each worker: a stopped process hands out none.
    for (const agent of agents) await ask(url, '{ thing { name } }', agent)
    gateway.stop()
    await ask(url, 'mutation { renameThing(name: "unheard") { name } }', agents[0])
    for (const agent of agents) expect((await ask(url, '{ thing { name } }', agent)).name).toBe('unheard')
    expect(gateway.output()).toContain('WORKERS_OUT_OF_TOUCH')
    gateway.cont()
    await expect.poll(async () => (await read()).cache, { timeout: 20_000 }).toBe('HIT')
    const answers = await Promise.all(Array.from({ length: READS }, read))
    expect(answers.filter(({ name }) => name !== 'unheard')).toEqual([])
  },
)
