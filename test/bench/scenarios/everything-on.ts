import type { Program, Scenario } from '../src/index.ts'
import { catalog } from './catalog.ts'
import { GATEWAY, gatewayPrograms, SILENT_GATEWAY } from './gateway.ts'
import { hello } from './hello.ts'

const EVERYTHING = 'vinyasa start, everything on'
const TRACES = { BENCH_TRACES: '0.01' }
const TRACED_GATEWAY = 'vinyasa start, traces, no log'

/** Metrics, an access log in a file, and traces by OpenTelemetry's SDK, of which one in a hundred is taken. */
function everythingOn(env: Readonly<Record<string, string>>): Program {
  const [gateway] = gatewayPrograms({ ...env, BENCH_METRICS: 'on', ...TRACES })
  return { ...gateway, name: EVERYTHING }
}

/** What it costs to know what the gateway does. */
function scenario(of: Scenario): Scenario {
  const { env = {} } = of.contenders.find(({ name }) => name === GATEWAY) ?? {}
  const [, silent] = gatewayPrograms(env)
  const [, traced] = gatewayPrograms({ ...env, ...TRACES })
  return {
    ...of,
    name: `everything-on-${of.name}`,
    title: `Metrics, traces and logs: ${of.title}`,
    contenders: [silent, { ...traced, name: TRACED_GATEWAY }, everythingOn(env)],
    targets: [
      { of: TRACED_GATEWAY, against: SILENT_GATEWAY, atMost: 1.15 },
      { of: EVERYTHING, against: SILENT_GATEWAY, atMost: 1.25 },
    ],
  }
}

const single = catalog.filter(({ name }) => name.endsWith('-1'))

export const withEverythingOn: readonly Scenario[] = [hello, ...single].map(scenario)
