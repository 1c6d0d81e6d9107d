import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDisposables, freePort, isListening, spawnProcess, waitUntil } from '@vinyasa/test-kit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { initialise, openGateway, vinyasa, type LiveGateway } from './live-gateway.ts'

// etcd's own protos, as its sources lay them out, against etcd itself: `vinyasa init` and nothing by hand.

const opened = createDisposables(afterAll)
let folder: string
let gateway: LiveGateway

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vinyasa-etcd-'))
  opened.use(() => rmSync(folder, { recursive: true, force: true }))
  // The package alone: what it depends on is Go.
  execFileSync('apt-get', ['download', '-qq', 'golang-etcd-server-dev'], { cwd: folder, stdio: 'pipe' })
  const [debian = ''] = readdirSync(folder)
  execFileSync('dpkg-deb', ['-x', debian, '.'], { cwd: folder })
  const [port, peerPort] = [await freePort(), await freePort()]
  const url = `http://127.0.0.1:${port}`
  const peerUrl = `http://127.0.0.1:${peerPort}`
  opened.use(
    await spawnProcess({
      command: 'etcd',
      args: [
        `--data-dir=${join(folder, 'data')}`,
        `--listen-client-urls=${url}`,
        `--advertise-client-urls=${url}`,
        `--listen-peer-urls=${peerUrl}`,
        `--initial-advertise-peer-urls=${peerUrl}`,
        `--initial-cluster=default=${peerUrl}`,
      ],
      // On other architectures than amd64 and arm64 it asks for that.
      env: { ETCD_UNSUPPORTED_ARCH: process.arch },
    }),
  )
  await waitUntil(() => isListening(port), { timeoutMs: 30_000, awaited: 'etcd' })
  const proto = 'usr/share/gocode/src/go.etcd.io/etcd/etcdserver/etcdserverpb/rpc.proto'
  await initialise(folder, proto, '--endpoint', `127.0.0.1:${port}`)
  // It takes the end of the requests for the end of the watch.
  const methods = { 'etcdserverpb.Watch.Watch': { keepRequestsOpen: true } }
  gateway = opened.use(await openGateway(folder, { methods }))
})

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const header = 'header { revision }'

it('check is green', async () => {
  const { code, out } = await vinyasa(folder, 'check')
  expect(code).toBe(0)
  expect(out).toMatch(/^source +rpc: ok$/m)
  expect(out).toMatch(/1 queries, 36 mutations, 3 subscriptions/)
})

it('Put and Range', async () => {
  const put = await gateway.ask(
    `mutation { put(key: "${base64('a')}", value: "${base64('one')}") { ${header} } }`,
  )
  expect(put).toEqual({ data: { put: { header: { revision: expect.stringMatching(/^\d+$/) } } } })
  const range = await gateway.ask(
    `mutation { range(key: "${base64('a')}") { count more kvs { key value version lease } } }`,
  )
  const kvs = [{ key: base64('a'), value: base64('one'), version: '1', lease: '0' }]
  expect(range).toEqual({ data: { range: { count: '1', more: false, kvs } } })
})

it('Txn, either way its comparison goes', async () => {
  const query = `mutation ($compare: [CompareInput!], $success: [RequestOpInput!], $failure: [RequestOpInput!]) {
    txn(compare: $compare, success: $success, failure: $failure) {
      succeeded
      responses { responsePut { ${header} } responseRange { kvs { value } } }
    }
  }`
  const key = base64('t')
  const get = { request: { requestRange: { key } } }
  await gateway.ask(`mutation { put(key: "${key}", value: "${base64('old')}") { ${header} } }`)
  const variables = {
    compare: [{ result: 'EQUAL', target: 'VALUE', key, targetUnion: { value: base64('old') } }],
    success: [{ request: { requestPut: { key, value: base64('new') } } }, get],
    failure: [get],
  }
  const range = { responsePut: null, responseRange: { kvs: [{ value: base64('new') }] } }
  expect(await gateway.ask(query, variables)).toEqual({
    data: {
      txn: {
        succeeded: true,
        responses: [
          { responsePut: { header: { revision: expect.any(String) } }, responseRange: null },
          range,
        ],
      },
    },
  })
  expect(await gateway.ask(query, variables)).toEqual({
    data: { txn: { succeeded: false, responses: [range] } },
  })
})

it('Watch hears what Put does', async () => {
  const key = base64('w')
  const request = `requestUnion: { createRequest: { key: "${key}" } }`
  const watch = await gateway.listen(
    `subscription { watch(${request}) { created events { type kv { key value } } } }`,
  )
  expect(await watch.hears('"created":true')).toBe(true)
  await gateway.ask(`mutation { put(key: "${key}", value: "${base64('heard')}") { ${header} } }`)
  expect(await watch.hears(`{"type":"PUT","kv":{"key":"${key}","value":"${base64('heard')}"}}`)).toBe(true)
  await watch.close()
})
