import type { GrpcSourceOptions } from '@vinyasa/grpc-source'
import { run } from '../../apps/gateway/src/cli.ts'
import { loadConfig } from '../../apps/gateway/src/config/file/load-config.ts'
import type { GatewayConfig } from '../../apps/gateway/src/config/types.ts'
import { createGateway } from '../../apps/gateway/src/gateway.ts'
import { createLogger } from '../../apps/gateway/src/logging/logger.ts'

/** A stream of events that is being read. */
export interface Listener {
  /** Whether the text comes, now or later. False where the stream ends without it. */
  hears(part: string): Promise<boolean>
  /** Reads to the end, and gives all that was said. */
  rest(): Promise<string>
  close(): Promise<void>
}

export interface LiveGateway {
  ask(query: string, variables?: object, headers?: Record<string, string>): Promise<any>
  /** Of a subscription. */
  listen(query: string, headers?: Record<string, string>): Promise<Listener>
  close(): Promise<void>
}

/** The command `vinyasa` in a folder: its exit code, and what it printed. */
export async function vinyasa(
  folder: string,
  ...args: string[]
): Promise<{ readonly code: number; readonly out: string }> {
  const lines: string[] = []
  const code = await run(args, {
    directory: folder,
    environment: {},
    shutdown: new AbortController().signal,
    reload: new EventTarget(),
    print: (text) => lines.push(text),
    printError: (text) => lines.push(text),
  })
  return { code, out: lines.join('\n') }
}

/** `vinyasa init`. Throws what it printed where it does not end well. */
export async function initialise(folder: string, ...args: string[]): Promise<void> {
  const { code, out } = await vinyasa(folder, 'init', ...args)
  if (code !== 0) throw new Error(`vinyasa init ended with ${code}: ${out}`)
}

/** Opens the gateway of the config that `vinyasa init` wrote, with more settings for its gRPC sources. */
export async function openGateway(
  folder: string,
  settings: Partial<GrpcSourceOptions> = {},
): Promise<LiveGateway> {
  const loaded = await loadConfig({ directory: folder, environment: {} })
  const { baseDirectory } = loaded
  const sources = Object.entries(loaded.config.grpc ?? {})
  const config = {
    ...loaded.config,
    grpc: Object.fromEntries(sources.map(([name, one]) => [name, { ...(one as object), ...settings }])),
  } as GatewayConfig
  const logger = await createLogger({ level: 'silent' })
  const gateway = await createGateway(config, { baseDirectory, logger })
  const post = (body: object, headers: Record<string, string>): Promise<Response> =>
    gateway.fetch(
      new Request('http://test/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      }),
    )
  return {
    async ask(query, variables, headers = {}) {
      return (await post({ query, variables }, headers)).json()
    },
    async listen(query, headers = {}) {
      const response = await post({ query }, { accept: 'text/event-stream', ...headers })
      const reader = (response.body as ReadableStream<Uint8Array>).getReader()
      const decoder = new TextDecoder()
      let text = ''
      const read = async (isEnough: () => boolean): Promise<boolean> => {
        while (!isEnough()) {
          const { done, value } = await reader.read()
          if (done) return false
          text += decoder.decode(value, { stream: true })
        }
        return true
      }
      return {
        hears: (part) => read(() => text.includes(part)),
        rest: async () => (await read(() => false), text),
        close: () => reader.cancel(),
      }
    },
    close: () => gateway.close(),
  }
}
