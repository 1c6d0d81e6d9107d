import { findingsOf } from '@vinyasa/core'
import { ConfigError } from '../errors.ts'
import { namesOfTypeDefs, type TypeDefsSections } from '../schema/type-defs.ts'
import { declaredSources } from './kinds.ts'
import type { Source, SourceEnvironment } from './source.ts'
import type { SourceSections } from './types.ts'

/**
 * Opens every source of the config. If some cannot be opened the others are closed, and one error tells of all. What is
 * imported is called otherwise than what the config declares by hand and the sources before it have: one that is added
 * after the others changes no name.
 */
export async function openSources(
  config: SourceSections & TypeDefsSections,
  environment: SourceEnvironment,
): Promise<readonly Source[]> {
  const declared = declaredSources(config)
  const sources: Source[] = []
  const failures: unknown[] = []
  const opening = declared
    .filter(({ isNamedLast }) => !isNamedLast)
    .map(({ open }) => open(environment, () => []))
  for (const result of await Promise.allSettled(opening)) {
    if (result.status === 'fulfilled') sources.push(result.value)
    else failures.push(result.reason)
  }
  try {
    for (const one of declared.filter(({ isNamedLast }) => isNamedLast)) {
      // Names of types that an entry declares beside its own document, and of objects in `typeDefs`, are not
      // taken: they may be those of the sources' types.
      const taken = (): readonly string[] => [
        ...declared.flatMap((other) => (other === one ? [] : other.namesByHand(false))),
        ...one.namesByHand(true),
        ...namesOfTypeDefs(config),
        ...sources.flatMap((source) => source.names()),
      ]
      try {
        sources.push(await one.open(environment, taken))
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 1) throw new ConfigError(failures.flatMap(findingsOf), { cause: failures[0] })
    if (failures.length === 1) throw failures[0]
    return sources
  } catch (error) {
    await Promise.all(sources.map((source) => source.close()))
    throw error
  }
}

/** The files that the config's sources are read from, for `--watch`. */
export function filesOf(config: SourceSections, baseDirectory: string): readonly string[] {
  return declaredSources(config).flatMap(({ files }) => files(baseDirectory))
}
