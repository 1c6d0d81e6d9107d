import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { spawnProcess, type SpawnedProcess, waitUntil } from '@vinyasa/test-kit'
import { type GraphQLAnswer, postGraphQL, repository } from '../../e2e/support/demo.ts'

export interface GatewayOptions {
  /** Content of the config file. */
  readonly config: object
  /** Further files beside the config, by their names. */
  readonly files?: Readonly<Record<string, string>>
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** How long it may take to start. Default 30 s. */
  readonly readyTimeoutMs?: number
  /** Default true: waits until /health/ready answers 200. */
  readonly untilReady?: boolean
}

export interface RunningGateway {
  /** `http://127.0.0.1:<port>` */
  readonly url: string
  readonly process: SpawnedProcess
  query(
    document: string,
    variables?: object,
    headers?: Readonly<Record<string, string>>,
  ): Promise<GraphQLAnswer>
  /** Replaces the config file, nothing else. */
  writeConfig(config: object | string): void
  [Symbol.asyncDispose](): Promise<void>
}

/** What a gateway logs of a rejected promise that nobody listens to: always a fault. */
export const UNHEARD = 'unhandled rejection'

/** Starts the built gateway as a process, on a config of the test's own and a free port. */
export async function startGateway(options: GatewayOptions): Promise<RunningGateway> {
  const { config, files = {}, args = [], env = {}, untilReady = true, readyTimeoutMs } = options
  const folder = mkdtempSync(join(tmpdir(), 'vinyasa-gateway-'))
  const file = join(folder, 'gateway.config.json')
  const writeConfig = (content: object | string): void =>
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
  writeConfig(config)
  const gateway = await spawnProcess({
    command: process.execPath,
    args: [repository('apps/gateway/dist/main.js'), 'start', '--config', file, '--port', '0', ...args],
    env,
    ready: /(http:\/\/[^\s"]+)\/graphql/,
    ...(readyTimeoutMs !== undefined && { readyTimeoutMs }),
  })
  const url = gateway.ready?.[1] ?? ''
  if (untilReady) {
    await waitUntil(async () => (await fetch(`${url}/health/ready`)).ok, {
      awaited: 'readiness of the gateway',
    })
  }
  return {
    url,
    process: gateway,
    query: (document, variables, headers) => postGraphQL(`${url}/graphql`, document, variables, headers),
    writeConfig,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
      const unheard = gateway.lines.filter((line) => line.includes(UNHEARD))
      if (unheard.length > 0)
        throw new Error(`Nobody in the gateway listened to a rejection:\n${unheard.join('\n')}`)
    },
  }
}
