import { sample } from 'fast-check'
import { definitionOf } from '../../apps/gateway/src/config/definition.ts'
import { Code, type Piece } from './config-file.ts'
import type { Feature, Surroundings } from './feature.ts'

/** Sections of which the members of each entry are looked at, and no deeper: a source has settings by the hundred. */
const SOURCES: ReadonlySet<string> = new Set(['grpc', 'rest'])
const SAMPLES = 60

/** Each setting of the config that has none below it, by its path; `*` stands for names of the user's own, and for items. */
export function settingsOf(schema: unknown, path: readonly string[] = []): readonly string[] {
  const isDeepEnough = SOURCES.has(path[0] ?? '') && path.length === 3
  const { shape = {}, valueType, element, options = [] } = (isDeepEnough ? {} : definitionOf(schema)) ?? {}
  const below = [
    ...Object.entries(shape).flatMap(([name, member]) => settingsOf(member, [...path, name])),
    ...[valueType, element].flatMap((item) => (hasMembers(item) ? settingsOf(item, [...path, '*']) : [])),
    ...options.flatMap((option) => (hasMembers(option) ? settingsOf(option, path) : [])),
  ]
  return below.length > 0 ? [...new Set(below)] : [path.join('.')]
}

function hasMembers(schema: unknown): boolean {
  const { shape, valueType, element, options = [] } = definitionOf(schema) ?? {}
  return shape !== undefined || [valueType, element, ...options].some((item) => item && hasMembers(item))
}

/** Whether a piece of a config sets it. */
export function isSet(piece: unknown, setting: string): boolean {
  return has(piece, setting.split('.'))
}

function has(value: unknown, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined) return value !== undefined
  if (typeof value !== 'object' || value === null || value instanceof Code) return false
  const members = name === '*' ? Object.values(value) : [(value as Piece)[name]]
  return members.some((member) => has(member, rest))
}

/** Pieces that the features draw of the config, many of each value. */
export function samplesOf(features: readonly Feature[], surroundings: Surroundings): readonly Piece[] {
  return features.flatMap(({ values }) =>
    values.flatMap(({ config }) =>
      config ? sample(config(surroundings), { seed: 1, numRuns: SAMPLES }) : [],
    ),
  )
}
