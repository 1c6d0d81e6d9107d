import type { BenchRequest, Program } from '../src/index.ts'

/** `vinyasa start --preset production` with its access log going to a file. */
export const GATEWAY = 'vinyasa start'
/** The same, saying nothing. */
export const SILENT_GATEWAY = 'vinyasa start, no log'

const file = new URL('../contenders/gateway.mjs', import.meta.url)

/** The gateway as its users start it, with its log and without. What `env` may hold is in `gateway.config.mjs`. */
export function gatewayPrograms(
  env: Readonly<Record<string, string>>,
  request?: BenchRequest,
): readonly [Program, Program] {
  return [
    { name: GATEWAY, file, env, writesToFile: true, ...(request && { request }) },
    { name: SILENT_GATEWAY, file, env: { ...env, BENCH_LOG: 'silent' }, ...(request && { request }) },
  ]
}
