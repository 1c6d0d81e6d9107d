import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeCertificate } from './certificate.ts'
import { startRestartable, type RestartableServer } from './restartable.ts'
import { spawnProcess } from './spawned.ts'

export interface NatsOptions {
  /** The text of its config, for example who may do what. Default: none. */
  readonly config?: string
  /** TLS alone, for the names given (`DNS:localhost`), with a certificate of an authority of its own. Default: none. */
  readonly tlsNames?: string
}

export interface NatsServer extends RestartableServer {
  /** `nats://127.0.0.1:<port>`; with TLS that of `localhost`, as its client compares names of hosts alone. */
  readonly url: string
  /** PEM of the authority, with `tlsNames`. */
  readonly ca: string
  /** What it reads at the next `restart` or `reload`. */
  configure(config: string): void
}

/** Needs a `nats-server` on PATH (Debian: apt-get install nats-server). */
export async function startNats({ config = '', tlsNames }: NatsOptions = {}): Promise<NatsServer> {
  const folder = mkdtempSync(join(tmpdir(), 'vinyasa-nats-'))
  const file = join(folder, 'nats.conf')
  const certificate = tlsNames === undefined ? undefined : makeCertificate(folder, tlsNames)
  const tls = certificate
    ? `tls { cert_file: "${certificate.certFile}", key_file: "${certificate.keyFile}" }\n`
    : ''
  const configure = (text: string): void => writeFileSync(file, `${tls}${text}`)
  configure(config)
  const server = await startRestartable(
    (port) =>
      spawnProcess({
        command: 'nats-server',
        args: ['--config', file, '--addr', '127.0.0.1', '--port', String(port)],
        ready: /Server is ready/,
      }),
    () => rmSync(folder, { recursive: true, force: true }),
  )
  const host = certificate ? 'localhost' : '127.0.0.1'
  return { ...server, url: `nats://${host}:${server.port}`, ca: certificate?.cert ?? '', configure }
}
