import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { spawnProcess } from '@vinyasa/test-kit'
import { expect, it, onTestFinished } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

it('the steps of the Dockerfile make a folder that runs by itself', async () => {
  const run = promisify(execFile)
  const folder = await mkdtemp(join(tmpdir(), 'vinyasa-image-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const dockerfile = await readFile(join(ROOT, 'deploy/Dockerfile'), 'utf8')
  const steps = [...dockerfile.matchAll(/^RUN (.+)$/gm)].map(([, step]) => step ?? '')
  expect(steps).toEqual(['deploy/build.sh /app'])
  const [, health = ''] = /^HEALTHCHECK .*\\\n +CMD (\[.*\])$/m.exec(dockerfile) ?? []
  const [command = '', ...args] = JSON.parse(health) as string[]
  const source = join(folder, 'src')
  // What `COPY . .` takes with this repository's .dockerignore.
  await cp(ROOT, source, {
    recursive: true,
    filter: (path) => !/\/(?:node_modules|dist|\.turbo|\.git)(?:\/|$)/.test(path.slice(ROOT.length - 1)),
  })
  const app = join(folder, 'app')
  await run('bash', ['-c', steps.join(' && ').replaceAll('/app', app)], { cwd: source })
  const { stdout } = await run(process.execPath, [join(app, 'dist/main.js'), '--version'], { cwd: folder })
  expect(stdout.trim()).toMatch(/^\d+\.\d+\.\d+$/)

  const config = join(folder, 'gateway.config.yaml')
  await writeFile(
    config,
    'status: true\nrest: { shop: { base_url: "http://127.0.0.1:1", health_path: false, endpoints: [{ name: item, path: /i }] } }',
  )
  const gateway = await spawnProcess({
    command: process.execPath,
    args: [join(app, 'dist/main.js'), 'start', '--config', config, '--port', '0', '--preset', 'production'],
    ready: /"url":"(http:[^"]+)\/graphql"/,
  })
  onTestFinished(() => gateway[Symbol.asyncDispose]())
  const url = gateway.ready?.[1]
  expect((await fetch(`${url}/health/ready`)).status).toBe(200)
  const port = new URL(url ?? '').port
  const check = (at: string): Promise<unknown> =>
    run(command === 'node' ? process.execPath : command, args, { env: { ...process.env, PORT: at } })
  await expect(check(port)).resolves.toBeDefined()
  await expect(check('1')).rejects.toThrow('Command failed')
  // It reads a file of the package beside its code.
  expect((await fetch(`${url}/status`)).status).toBe(200)
  expect(await gateway.kill('SIGTERM')).toEqual({ code: 0, signal: null })
}, 900_000)
