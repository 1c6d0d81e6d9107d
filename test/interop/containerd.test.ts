import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { createDisposables, spawnProcess } from '@vinyasa/test-kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { initialise, openGateway, vinyasa, type LiveGateway } from './live-gateway.ts'

// containerd's own protos, as its sources lay them out, against containerd behind its socket. It runs as root alone.

const SERVICES = 'usr/share/gocode/src/github.com/containerd/containerd/api/services'
const isRoot = process.getuid?.() === 0

describe.runIf(isRoot)('containerd', () => {
  const opened = createDisposables(afterAll)
  let folder: string
  let gateway: LiveGateway

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'vinyasa-containerd-'))
    opened.use(() => rmSync(folder, { recursive: true, force: true }))
    // The package alone: what it depends on is Go.
    execFileSync('apt-get', ['download', '-qq', 'golang-github-containerd-containerd-dev'], {
      cwd: folder,
      stdio: 'pipe',
    })
    const [debian = ''] = readdirSync(folder)
    execFileSync('dpkg-deb', ['-x', debian, '.'], { cwd: folder })
    const settings = join(folder, 'containerd.toml')
    const socket = join(folder, 'containerd.sock')
    writeFileSync(
      settings,
      `version = 2
root = "${join(folder, 'root')}"
state = "${join(folder, 'state')}"
disabled_plugins = ["io.containerd.grpc.v1.cri"]
[grpc]
  address = "${socket}"
`,
    )
    opened.use(
      await spawnProcess({
        command: 'containerd',
        args: ['-c', settings],
        ready: /containerd successfully booted/,
      }),
    )
    const protos = [
      'namespaces/v1/namespace',
      'version/v1/version',
      'containers/v1/containers',
      'events/v1/events',
    ]
    const files = protos.map((name) => `${SERVICES}/${name}.proto`)
    await initialise(folder, ...files, '--endpoint', `unix:${socket}`)
    // It wants to know of most calls for which of its namespaces they are.
    const metadata = { static: { 'containerd-namespace': 'tests' } }
    gateway = opened.use(await openGateway(folder, { metadata }))
  })

  it('check is green', async () => {
    const { code, out } = await vinyasa(folder, 'check')
    expect([code, out]).toEqual([0, expect.stringMatching(/^source .*: ok$/m)])
  })

  it('write, read, and hear of it', async () => {
    const events = await gateway.listen('subscription { subscribe { topic namespace event } }')
    // containerd does not say when it has begun to listen: namespaces come and go until one is heard of.
    const isHeard = events.hears('/namespaces/create')
    for (let n = 0; !(await Promise.race([isHeard, setTimeout(100, false)])); n++) {
      await gateway.ask(`mutation { create(namespace: { name: "early${n}" }) { namespace { name } } }`)
      await gateway.ask(`mutation { delete(name: "early${n}") }`)
    }
    const create =
      'mutation { create(namespace: { name: "tests", labels: [{ key: "a", value: "" }] }) { namespace { name labels { key value } } } }'
    const made = { namespace: { name: 'tests', labels: [{ key: 'a', value: '' }] } }
    expect(await gateway.ask(create)).toEqual({ data: { create: made } })
    expect(await gateway.ask('{ list { namespaces { name } } }')).toEqual({
      data: { list: { namespaces: expect.arrayContaining([{ name: 'tests' }]) } },
    })
    expect(await gateway.ask('mutation { version { version } }')).toEqual({
      data: { version: { version: expect.stringMatching(/^1\./) } },
    })
    // A type that the files do not define.
    const any = { '@type': 'example.org/a.B', value: 'CAE=' }
    const put = await gateway.ask(
      `mutation ($spec: JSON) { containersCreate(container: { id: "one", runtime: { name: "r" }, spec: $spec }) { container { id spec createdAt } } }`,
      { spec: any },
    )
    expect(put).toMatchObject({ data: { containersCreate: { container: { id: 'one', spec: any } } } })
    expect(await events.hears('/containers/create')).toBe(true)
    await events.close()
    expect(await gateway.ask('mutation { containersDelete(id: "one") }')).not.toHaveProperty('errors')
    expect(await gateway.ask('mutation { delete(name: "tests") }')).not.toHaveProperty('errors')
  })
})
