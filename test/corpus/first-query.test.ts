import { spawn } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '@vinyasa/test-kit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openApiFiles } from './openapi-files.ts'
import { startPrism } from './prism/prism-upstream.ts'

const CLI = fileURLToPath(new URL('../../apps/gateway/dist/main.js', import.meta.url))

/** A document that wants credentials, what a user has of them, and a first query. */
const rows = [
  {
    api: 'NetBox',
    kind: 'apiKey',
    secrets: ['Token abc'],
    query: '{ dcimSitesList(limit: 1) { count results { name } } }',
  },
  {
    api: 'DigitalOcean',
    kind: 'bearer',
    secrets: ['abc'],
    query: '{ dropletsList(per_page: 1) { droplets { id name } } }',
  },
  {
    api: 'Twilio',
    kind: 'basic',
    secrets: ['ab', 'cd'],
    query: '{ listAccount(PageSize: 1) { accounts { sid } } }',
  },
  {
    api: 'Asana',
    kind: 'OAuth2 token',
    secrets: ['abc'],
    query: '{ getUsers(limit: 1) { data { gid name } } }',
  },
] as const

describe('from a document to the first typed query in three commands', () => {
  it.each(rows)('$api, with $kind', async ({ api, secrets, query }) => {
    const { file } = openApiFiles.find((one) => one.api === api) as { file: string }
    const prism = await startPrism(JSON.parse(readFileSync(file, 'utf8')) as object, '1')
    onTestFinished(() => prism[Symbol.asyncDispose]())
    const cwd = mkdtempSync(join(tmpdir(), 'first-query-'))
    onTestFinished(() => rmSync(cwd, { recursive: true }))
    copyFileSync(file, join(cwd, basename(file)))

    const init = await run(cwd, ['init', basename(file), '--endpoint', prism.url])
    expect(init).toMatchObject({ code: 0, err: '' })
    const check = await run(cwd, ['check'])
    // It says which variables it wants, and nothing else that a user has to do.
    const wanted = [
      ...new Set(
        [...check.out.matchAll(/the environment variable (\w+) is not set/g)].map(
          ([, name]) => name as string,
        ),
      ),
    ]
    expect(wanted).toHaveLength(secrets.length)
    expect(check.code).toBe(0)

    const port = await freePort()
    const env = Object.fromEntries(wanted.map((name, index) => [name, secrets[index] as string]))
    const gateway = spawn(process.execPath, [CLI, 'start', '--port', String(port)], {
      cwd,
      env: { ...process.env, ...env },
      stdio: 'ignore',
    })
    onTestFinished(() => void gateway.kill())
    const ask = (): Promise<Response | undefined> =>
      fetch(`http://127.0.0.1:${port}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      }).catch(() => undefined)
    await expect
      .poll(
        async () => (await fetch(`http://127.0.0.1:${port}/health/live`).catch(() => undefined))?.status,
        { timeout: 60_000 },
      )
      .toBe(200)
    prism.take()
    const result = (await (await ask())?.json()) as { data?: object; errors?: unknown }
    expect(result.errors).toBeUndefined()
    expect(Object.values(result.data ?? {})[0]).toBeTypeOf('object')
    // Prism refuses a request without the credentials that the document wants.
    expect(prism.take()).toEqual([{ request: [], response: [] }])
  })
})

/** Not synchronously: Prism answers in this process. */
function run(
  cwd: string,
  args: readonly string[],
): Promise<{ code: number | null; out: string; err: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [CLI, ...args], { cwd })
    let out = ''
    let err = ''
    child.stdout.on('data', (data: Buffer) => (out += data.toString()))
    child.stderr.on('data', (data: Buffer) => (err += data.toString()))
    child.on('close', (code) => resolve({ code, out, err }))
  })
}
