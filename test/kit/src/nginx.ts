import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'vitest'
import { freePort, isListening } from './free-port.ts'
import { waitUntil } from './wait.ts'

const candidates = ['/usr/sbin/nginx', '/usr/local/sbin/nginx', '/usr/bin/nginx', '/opt/homebrew/bin/nginx']

export function findNginx(): string | undefined {
  return candidates.find((path) => existsSync(path))
}

/** Runs with an nginx. Without one the block is skipped, loudly, and in CI it fails. */
export function describeWithNginx(name: string, suite: () => void): void {
  const isRun = findNginx() !== undefined || Boolean(process.env['CI'])
  if (!isRun) process.stderr.write(`SKIPPED: nginx is not installed, so "${name}" was not tested\n`)
  // oxlint-disable-next-line vitest/valid-title, vitest/valid-describe-callback -- they are this function's arguments
  describe.skipIf(!isRun)(name, suite)
}

export interface NginxOptions {
  /** What the server does with every request, for example `proxy_pass http://...;`. */
  readonly location: string
  /** After the address it listens on, for example `http2`. */
  readonly listen?: string
  /** Further directives of the `http` block. */
  readonly http?: string
}

export interface Nginx {
  readonly port: number
  [Symbol.asyncDispose](): Promise<void>
}

/** A private nginx with nginx's own defaults: buffering on, HTTP/1.0 to the upstream. */
export async function startNginx({ location, listen = '', http = '' }: NginxOptions): Promise<Nginx> {
  const binary = findNginx()
  if (!binary) throw new Error('nginx is not installed')
  const folder = mkdtempSync(join(tmpdir(), 'vinyasa-nginx-'))
  // As root its workers are somebody else, who writes larger bodies there.
  chmodSync(folder, 0o755)
  const port = await freePort()
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join('\n')
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
events {}
http {
  access_log off;
  ${temporary}
  ${http}
  server { listen 127.0.0.1:${port} ${listen}; location / { ${location} } }
}
`,
  )
  const nginx = spawn(
    binary,
    ['-p', folder, '-e', join(folder, 'error.log'), '-c', join(folder, 'nginx.conf')],
    {
      stdio: 'ignore',
    },
  )
  const exited = new Promise<void>((resolve) => nginx.once('exit', () => resolve()))
  await waitUntil(() => isListening(port))
  return {
    port,
    async [Symbol.asyncDispose]() {
      nginx.kill('SIGTERM')
      await exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
