import type { FileRegistry } from '@bufbuild/protobuf'
import { nearestNames } from '@vinyasa/base'
import type { Finding } from '../errors.ts'
import type { GrpcSourceOptions } from '../options.ts'
import { findMethod } from './methods.ts'

type Settings = Pick<GrpcSourceOptions, 'endpoints' | 'fields' | 'methods' | 'typeNames'>

/**
 * Finds each key of the settings that names nothing of the protos. Taken in silence, one letter too many would send a service
 * to another backend, or leave a field visible that is to be omitted.
 */
export function checkNamesInSettings(settings: Settings, registry: FileRegistry): Finding[] {
  const { endpoints = {}, fields = {}, methods = {}, typeNames = {} } = settings
  if ([endpoints, fields, methods, typeNames].every((given) => Object.keys(given).length === 0)) return []
  const named = namesIn(registry)
  const unknown = (
    setting: keyof Settings,
    given: object,
    what: string,
    known: ReadonlySet<string>,
    isKnown = (name: string): boolean => known.has(name),
  ): Finding[] =>
    Object.keys(given)
      .filter((name) => !isKnown(name))
      .map((name) => ({
        message: `${setting}: the protos have no ${what} "${name}"; ${mendOf(name, known)}`,
        path: [setting, name],
      }))
  return [
    ...unknown('methods', methods, 'method', named.methods, (name) => Boolean(findMethod(registry, name))),
    ...unknown('endpoints', endpoints, 'service', named.services),
    ...unknown('typeNames', typeNames, 'message or enum', named.types),
    ...unknown('fields', fields, 'field', named.fields),
  ]
}

function mendOf(name: string, known: ReadonlySet<string>): string {
  const [nearest] = nearestNames(name, known, 1)
  if (nearest !== undefined) return `did you mean "${nearest}"?`
  const [example] = known
  return example === undefined ? 'remove it' : `write the full name, for example "${example}"`
}

function namesIn(registry: FileRegistry): Record<'methods' | 'services' | 'types' | 'fields', Set<string>> {
  const named = {
    methods: new Set<string>(),
    services: new Set<string>(),
    types: new Set<string>(),
    fields: new Set<string>(),
  }
  for (const desc of registry) {
    if (desc.kind === 'service') {
      named.services.add(desc.typeName)
      for (const { name } of desc.methods) named.methods.add(`${desc.typeName}.${name}`)
    }
    if (desc.kind === 'message' || desc.kind === 'enum') named.types.add(desc.typeName)
    if (desc.kind === 'message')
      for (const { name } of desc.fields) named.fields.add(`${desc.typeName}.${name}`)
  }
  return named
}
