import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDisposables, freePort, isListening, spawnProcess, waitUntil } from '@vinyasa/test-kit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { initialise, type LiveGateway, openGateway, vinyasa } from './live-gateway.ts'

// Alertmanager's own Swagger document, as its sources carry it, against Alertmanager itself: `vinyasa init` and nothing by hand.

const SOURCES = 'usr/share/gocode/src/github.com/prometheus/alertmanager'
const opened = createDisposables(afterAll)
let folder: string
let gateway: LiveGateway

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vinyasa-alertmanager-'))
  opened.use(() => rmSync(folder, { recursive: true, force: true }))
  // The package alone: what it depends on is Go.
  execFileSync('apt-get', ['download', '-qq', 'golang-github-prometheus-alertmanager-dev'], {
    cwd: folder,
    stdio: 'pipe',
  })
  const [debian = ''] = readdirSync(folder)
  execFileSync('dpkg-deb', ['-x', debian, '.'], { cwd: folder })
  writeFileSync(join(folder, 'alertmanager.json'), swaggerOf(join(folder, SOURCES, 'api/v2/restapi')))
  writeFileSync(
    join(folder, 'alertmanager.yml'),
    'route: { receiver: nobody }\nreceivers: [{ name: nobody }]\n',
  )
  const port = await freePort()
  opened.use(
    await spawnProcess({
      command: 'prometheus-alertmanager',
      args: [
        `--config.file=${join(folder, 'alertmanager.yml')}`,
        `--storage.path=${join(folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
        '--cluster.listen-address=',
      ],
    }),
  )
  await waitUntil(() => isListening(port), { timeoutMs: 30_000, awaited: 'Alertmanager' })
  // The document says `basePath` and no host.
  await initialise(folder, 'alertmanager.json', '--endpoint', `http://127.0.0.1:${port}`)
  gateway = opened.use(await openGateway(folder))
})

/** go-swagger keeps the document in a raw string of Go, in which a backquote ends it and begins it again. */
function swaggerOf(restapi: string): string {
  const source = readFileSync(join(restapi, 'embedded_spec.go'), 'utf8')
  const [, text = ''] = /\n\tSwaggerJSON = json\.RawMessage\(\[\]byte\(`([\s\S]*?)`\)\)/.exec(source) ?? []
  return text.replaceAll('` + "`" + `', '`')
}

const entries = (values: Readonly<Record<string, string>>): { key: string; value: string }[] =>
  Object.entries(values).map(([key, value]) => ({ key, value }))
const alert = {
  labels: entries({ alertname: 'DiskFull', host: 'a "quoted" one' }),
  annotations: entries({ summary: '96 %' }),
  startsAt: '2020-01-02T03:04:05Z',
}

it('check is green', async () => {
  const { code, out } = await vinyasa(folder, 'check')
  expect(code).toBe(0)
  expect(out).toMatch(/^source +alertmanager: ok$/m)
  expect(out).toMatch(/6 queries, 3 mutations, 0 subscriptions/)
})

it('alerts are posted and read, by filters with quotes', async () => {
  const posted = await gateway.ask('mutation ($input: [PostableAlertInput]!) { postAlerts(input: $input) }', {
    input: [alert],
  })
  expect(posted.errors).toBeUndefined()
  const query = `query ($filter: [String]) {
    getAlerts(filter: $filter) { labels { key value } annotations { key value } startsAt status { state } receivers { name } }
  }`
  const ask = (host: string): Promise<any> =>
    gateway.ask(query, { filter: ['alertname="DiskFull"', `host=${JSON.stringify(host)}`] })
  const seen = await ask('a "quoted" one')
  expect(seen.errors).toBeUndefined()
  expect(seen.data.getAlerts).toEqual([
    {
      labels: expect.arrayContaining(alert.labels),
      annotations: alert.annotations,
      startsAt: '2020-01-02T03:04:05.000Z',
      status: { state: expect.stringMatching(/^(ACTIVE|UNPROCESSED)$/) },
      receivers: [{ name: 'nobody' }],
    },
  ])
  expect(await ask('b')).toEqual({ data: { getAlerts: [] } })
})

it('a silence is made, read, changed by its id and ended', async () => {
  const silence = {
    matchers: [{ name: 'host', value: 'b.*', isRegex: true }],
    startsAt: '2020-01-02T03:04:05Z',
    endsAt: '2100-01-02T03:04:05Z',
    createdBy: 'ada',
    comment: 'while the disk is changed',
  }
  const post = async (input: object): Promise<string> => {
    const { data, errors } = await gateway.ask(
      'mutation ($input: PostableSilenceInput!) { postSilences(input: $input) { silenceID } }',
      { input },
    )
    expect(errors).toBeUndefined()
    return data.postSilences.silenceID
  }
  const read = (id: string): Promise<any> =>
    gateway.ask(
      'query ($id: UUID!) { getSilence(silenceID: $id) { comment status { state } matchers { name value isRegex } } }',
      { id },
    )
  const id = await post(silence)
  const { matchers } = silence
  expect(await read(id)).toEqual({
    data: { getSilence: { comment: silence.comment, status: { state: 'ACTIVE' }, matchers } },
  })
  // It ends one whose time has begun, and makes another.
  const longer = await post({ ...silence, id, comment: 'longer' })
  expect((await read(longer)).data.getSilence).toMatchObject({
    comment: 'longer',
    status: { state: 'ACTIVE' },
  })
  const ended = await gateway.ask('mutation ($id: UUID!) { deleteSilence(silenceID: $id) }', { id: longer })
  expect(ended.errors).toBeUndefined()
  for (const one of [id, longer])
    expect((await read(one)).data.getSilence.status).toEqual({ state: 'EXPIRED' })
})

it('what Alertmanager refuses is an error at its field, for the client to fix', async () => {
  const { data, errors } = await gateway.ask('{ getAlerts(filter: ["host"]) { fingerprint } }')
  expect(data).toEqual({ getAlerts: null })
  expect(errors).toEqual([
    expect.objectContaining({
      path: ['getAlerts'],
      extensions: expect.objectContaining({ code: 'BAD_USER_INPUT', status: 400 }),
    }),
  ])
})
