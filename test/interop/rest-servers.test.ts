import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createDisposables, freePort, isListening, spawnProcess, waitUntil } from '@vinyasa/test-kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type LiveGateway, openGateway, vinyasa } from './live-gateway.ts'

// Servers that describe themselves by no document, with endpoints as their users write them.

const opened = createDisposables(afterAll)

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'vinyasa-rest-'))
  opened.use(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function gatewayOf(folder: string, rest: string): Promise<LiveGateway> {
  writeFileSync(join(folder, 'gateway.config.yaml'), `rest:\n${rest}`)
  return opened.use(await openGateway(folder))
}

describe('Prometheus', () => {
  const folder = emptyFolder()
  let gateway: LiveGateway

  beforeAll(async () => {
    const port = await freePort()
    const self = { job_name: 'itself', static_configs: [{ targets: [`127.0.0.1:${port}`] }] }
    const settings = { global: { scrape_interval: '1s' }, scrape_configs: [self] }
    writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(settings))
    opened.use(
      await spawnProcess({
        command: 'prometheus',
        args: [
          `--config.file=${join(folder, 'prometheus.yml')}`,
          `--storage.tsdb.path=${join(folder, 'data')}`,
          `--web.listen-address=127.0.0.1:${port}`,
        ],
      }),
    )
    await waitUntil(() => isListening(port), { timeoutMs: 30_000, awaited: 'Prometheus' })
    gateway = await gatewayOf(
      folder,
      `  prometheus:
    baseUrl: http://127.0.0.1:${port}/api/v1
    endpoints:
      - name: instant
        path: /query
        queryParams: { query: '{promql}', time: '{at}' }
        args: { promql: String!, at: String }
        responsePath: $.data
        responseSchema:
          typeName: Vector
          fields:
            resultType: string!
            result: { type: '[Sample!]', fields: { metric: json, value: '[json]' } }
      - name: targets
        path: /targets
        queryParams: { state: '{state}' }
        args: { state: String }
        responsePath: $.data.activeTargets
        returnType: '[Target!]'
        responseSchema:
          typeName: Target
          fields: { pool: { type: string, key: scrapePool }, health: string, lastError: string, labels: json }
`,
    )
  })

  it('check is green', async () => {
    const { code, out } = await vinyasa(folder, 'check')
    expect([code, out]).toEqual([0, expect.stringMatching(/^source +prometheus: ok$/m)])
  })

  it('is read by expressions with braces and quotes', async () => {
    const ask = (): Promise<any> =>
      gateway.ask(
        'query ($promql: String!) { instant(promql: $promql) { resultType result { metric value } } targets(state: "active") { pool health lastError labels } }',
        { promql: 'up{job="itself"} + 1' },
      )
    await waitUntil(async () => (await ask()).data?.instant?.result?.length > 0, {
      timeoutMs: 30_000,
      awaited: 'the first scrape',
    })
    const { data, errors } = await ask()
    expect(errors).toBeUndefined()
    const [{ metric, value }] = data.instant.result
    expect(data.instant.resultType).toBe('vector')
    expect(metric).toMatchObject({ job: 'itself' })
    expect(value).toEqual([expect.any(Number), '2'])
    expect(data.targets).toEqual([
      { pool: 'itself', health: 'up', lastError: '', labels: expect.objectContaining({ job: 'itself' }) },
    ])
  })

  it('an expression that it does not understand is an error of the client', async () => {
    const { data, errors } = await gateway.ask('{ instant(promql: "up{") { resultType } }')
    expect(data).toEqual({ instant: null })
    expect(errors[0].extensions).toMatchObject({ code: 'BAD_USER_INPUT', status: 400 })
  })
})

describe('verdaccio', () => {
  const folder = emptyFolder()
  let gateway: LiveGateway

  beforeAll(async () => {
    const packages = fileURLToPath(new URL('servers/verdaccio', import.meta.url))
    const bin = join(packages, 'node_modules/verdaccio/bin/verdaccio')
    if (!existsSync(bin))
      execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
        cwd: packages,
        stdio: 'pipe',
      })
    const settings = {
      storage: join(folder, 'storage'),
      auth: { htpasswd: { file: join(folder, 'htpasswd') } },
      packages: { '**': { access: '$all', publish: '$authenticated' } },
      log: { type: 'stdout', format: 'json', level: 'error' },
    }
    writeFileSync(join(folder, 'verdaccio.yaml'), JSON.stringify(settings))
    const port = await freePort()
    opened.use(
      await spawnProcess({
        command: process.execPath,
        args: [bin, '--config', join(folder, 'verdaccio.yaml'), '--listen', `127.0.0.1:${port}`],
      }),
    )
    await waitUntil(() => isListening(port), { timeoutMs: 60_000, awaited: 'verdaccio' })
    gateway = await gatewayOf(
      folder,
      `  registry:
    baseUrl: http://127.0.0.1:${port}
    forwardHeaders: [authorization]
    endpoints:
      - name: join
        method: PUT
        path: /-/user/org.couchdb.user:{name}
        args: { name: String!, password: String! }
        bodyTemplate: '{"name": {name}, "password": {password}}'
        responseSchema: { typeName: Joined, fields: { ok: string!, token: string! } }
      - name: me
        path: /-/whoami
        responseSchema: { typeName: Me, fields: { username: string } }
      - name: publish
        method: PUT
        path: /{name}
        args: { name: String!, document: JSON! }
        bodyTemplate: '{document}'
        responseSchema: { typeName: Published, fields: { success: boolean } }
      - name: package
        path: /{name}
        args: { name: String! }
        responseSchema:
          typeName: Package
          fields: { name: string!, latest: { type: string, key: dist-tags.latest }, versions: json }
`,
    )
  })

  it('check is green', async () => {
    const { code, out } = await vinyasa(folder, 'check')
    expect([code, out]).toEqual([0, expect.stringMatching(/^source +registry: ok$/m)])
  })

  it('users, tokens that are forwarded, and a package with a scope that is written and read', async () => {
    const joined = await gateway.ask('mutation { join(name: "ada", password: "correct horse") { ok token } }')
    expect(joined.errors).toBeUndefined()
    const authorization = `Bearer ${joined.data.join.token}`
    expect(await gateway.ask('{ me { username } }', {}, { authorization })).toEqual({
      data: { me: { username: 'ada' } },
    })
    const name = '@ada/engine'
    const data = Buffer.from('no archive').toString('base64')
    const description = 'notes on “the engine”'
    const dist = { shasum: '0', tarball: 'http://localhost/engine.tgz' }
    const document = {
      _id: name,
      name,
      'dist-tags': { latest: '1.0.0' },
      versions: { '1.0.0': { name, version: '1.0.0', description, dist } },
      _attachments: { 'engine-1.0.0.tgz': { content_type: 'application/octet-stream', data, length: 10 } },
    }
    const publish = `mutation ($name: String!, $document: JSON!) { publish(name: $name, document: $document) { success } }`
    const refused = await gateway.ask(publish, { name, document })
    expect(refused.errors[0].extensions.code).toBe('UNAUTHENTICATED')
    expect(await gateway.ask(publish, { name, document }, { authorization })).toEqual({
      data: { publish: { success: true } },
    })
    const read = 'query ($name: String!) { package(name: $name) { name latest versions } }'
    const { data: found } = await gateway.ask(read, { name })
    expect(found.package).toMatchObject({
      name,
      latest: '1.0.0',
      versions: { '1.0.0': { name, description } },
    })
    const missing = await gateway.ask(read, { name: '@ada/none' })
    expect(missing.errors?.[0]?.extensions.code).toBe('NOT_FOUND')
  })
})
