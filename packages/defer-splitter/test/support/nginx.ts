import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, waitUntil } from '@vinyasa/test-kit'

const candidates = ['/usr/sbin/nginx', '/usr/local/sbin/nginx', '/usr/bin/nginx', '/opt/homebrew/bin/nginx']

export function findNginx(): string | undefined {
  return candidates.find((path) => existsSync(path))
}

export interface Nginx {
  readonly url: string
  [Symbol.asyncDispose](): Promise<void>
}

/** A private nginx in front of `upstream`, with nginx's own defaults: buffering on, HTTP/1.0 to the upstream. */
export async function startNginx(upstream: string, extra = ''): Promise<Nginx> {
  const binary = findNginx()
  if (!binary) throw new Error('nginx is not installed')
  const folder = mkdtempSync(join(tmpdir(), 'defer-nginx-'))
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
  ${extra}
  server { listen 127.0.0.1:${port}; location / { proxy_pass ${new URL(upstream).origin}; } }
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
  const url = `http://127.0.0.1:${port}/graphql`
  await waitUntil(() => fetch(url).then((response) => response.arrayBuffer()))
  return {
    url,
    async [Symbol.asyncDispose]() {
      nginx.kill('SIGTERM')
      await exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
