import type { HttpSections } from './http-types.ts'
import { formatPath, mistakeAt } from '../errors.ts'
import { pathnameOf } from './pathname.ts'

/** The paths where a gateway answers. */
export interface GatewayPaths {
  readonly graphql: string
  /** A path of its own for sockets. */
  readonly graphqlLive: string
  readonly live: string
  readonly ready: string
  /** All of them, for the labels of metrics. */
  readonly all: ReadonlySet<string>
}

export const METRICS_PATH = '/metrics'

/** The paths of a config. Throws `ConfigError` when two things would be at one path. */
export function pathsOf(config: HttpSections): GatewayPaths {
  const { server = {}, graphql: { path: graphql = '/graphql' } = {} } = config
  const below = graphql.replace(/\/$/, '')
  const graphqlLive = `${below}/live`
  const live = server.livenessPath ?? '/health/live'
  const ready = server.readinessPath ?? '/health/ready'
  const names: readonly (readonly [setting: readonly string[], path: string, what?: string])[] = [
    [['graphql', 'path'], graphql],
    [['graphql', 'path'], graphqlLive, ', for live queries'],
    [['graphql', 'path'], `${below}/defer`, ', for @defer'],
    [['server', 'livenessPath'], live],
    [['server', 'readinessPath'], ready],
    [['metrics'], METRICS_PATH],
    [['invalidate'], '/invalidate'],
    [['status'], '/status'],
  ]
  const taken = new Map<string, string>()
  for (const [setting, path, what = ''] of names) {
    const other = taken.get(path)
    if (other !== undefined)
      throw mistakeAt(
        setting,
        `${path} is already used by ${other}; choose a different path${setting.length === 1 ? ` for ${other.split(',')[0]}` : ''}`,
      )
    taken.set(path, `${formatPath(setting)}${what}`)
  }
  return { graphql, graphqlLive, live, ready, all: new Set(taken.keys()) }
}

/** Whether the target of a request is one of the paths, with a query or without. */
export function isAt(url: string | undefined, paths: readonly string[]): boolean {
  return url !== undefined && paths.includes(pathnameOf(url))
}
