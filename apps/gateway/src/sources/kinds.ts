import { grpcFiles, restFiles } from './files.ts'
import { namesIn } from './names.ts'
import type { Source, SourceEnvironment } from './source.ts'
import type { SourceOptions, SourceSections } from './types.ts'

/**
 * All that the gateway knows of a kind of source, but for the schema of its section: a config is validated before anything of
 * sources is loaded.
 */
export interface SourceKind<Options> {
  readonly open: (
    name: string,
    options: Options,
    environment: SourceEnvironment,
    taken: () => readonly string[],
  ) => Promise<Source>
  /** The files and folders that an entry names, for `--watch`. */
  readonly files: (options: Options, baseDirectory: string) => readonly string[]
  /** The settings that say how long a call may take, in milliseconds; undefined where an entry leaves one out. */
  readonly timeoutsMs: (options: Options) => readonly (number | undefined)[]
  /**
   * Names that an entry gives by hand, its own alone or those of its types too. What such a kind imports gets no name that is
   * taken: its sources are opened one after another, after those of all other kinds.
   */
  readonly namesByHand?: (options: Options, isOwn: boolean) => readonly string[]
}

/** The kinds of sources, by their sections of the config. What opens them is loaded where the config has one. */
export const kinds: { readonly [Section in keyof SourceOptions]: SourceKind<SourceOptions[Section]> } = {
  grpc: {
    open: async (name, options, environment) =>
      (await import('./grpc/grpc.ts')).openGrpcSource(name, options, environment),
    files: grpcFiles,
    timeoutsMs: ({ timeoutMs, methods = {} }) => [
      timeoutMs,
      ...Object.values(methods).map((one) => one.timeoutMs),
    ],
  },
  rest: {
    open: async (...given) => (await import('./rest/rest.ts')).openRestSource(...given),
    files: restFiles,
    timeoutsMs: ({ timeoutMs, totalTimeoutMs, endpoints = [] }) => [
      timeoutMs,
      totalTimeoutMs,
      ...endpoints.map((one) => one.timeoutMs),
    ],
    namesByHand: (options, isOwn) =>
      isOwn ? (options.endpoints ?? []).map(({ name }) => name) : namesIn(options),
  },
}

/** An entry of a section of sources. */
export interface DeclaredSource {
  readonly section: string
  readonly name: string
  readonly isNamedLast: boolean
  readonly open: (environment: SourceEnvironment, taken: () => readonly string[]) => Promise<Source>
  readonly files: (baseDirectory: string) => readonly string[]
  /** How long one of its calls may take at most, in milliseconds, as far as its entry says so; else 0. */
  readonly longestCallMs: number
  readonly namesByHand: (isOwn: boolean) => readonly string[]
}

/** The sources of a config, kind by kind. */
export function declaredSources(config: SourceSections): readonly DeclaredSource[] {
  const ofSection = <Section extends keyof SourceOptions>(section: Section): DeclaredSource[] =>
    declared(section, kinds[section], config[section])
  return (Object.keys(kinds) as (keyof SourceOptions)[]).flatMap(ofSection)
}

function declared<Options extends { readonly required?: boolean | undefined }>(
  section: string,
  { open, files, timeoutsMs, namesByHand }: SourceKind<Options>,
  entries: Readonly<Record<string, Options>> = {},
): DeclaredSource[] {
  return Object.entries(entries).map(([name, options]) => ({
    section,
    name,
    isNamedLast: namesByHand !== undefined,
    open: (environment, taken) => {
      // Only readiness reads `required`; sources refuse unknown options.
      const { required: _, ...rest } = options
      return open(name, rest as Options, environment, taken)
    },
    files: (baseDirectory) => files(options, baseDirectory),
    longestCallMs: Math.max(0, ...timeoutsMs(options).map((ms) => ms ?? 0)),
    namesByHand: (isOwn) => namesByHand?.(options, isOwn) ?? [],
  }))
}
