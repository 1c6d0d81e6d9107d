import { isRecord } from '@vinyasa/core'
import { listOf } from './yaml.ts'
import { filled, textOf, type Values } from '../migration.ts'

/** Other names for what a source has. */
export interface Transforms {
  readonly prefix?: { readonly types?: string; readonly fields?: string }
  readonly rename?: Readonly<Record<string, string>>
  readonly hide?: readonly string[]
}

/** Reads the transforms of a source; what has no counterpart is told with its place among them. */
export function readTransforms(
  given: readonly unknown[],
  note: (index: number, text: string) => void,
): Transforms {
  let prefix: Transforms['prefix']
  const rename: Record<string, string> = {}
  const hide: string[] = []
  for (const [index, one] of given.entries())
    for (const [kind, options] of Object.entries(isRecord(one) ? one : {})) {
      const refuse = (text: string): void => note(index, text)
      if (kind === 'prefix' && isRecord(options)) prefix = prefixOf(options, refuse)
      else if (kind === 'rename' && isRecord(options)) Object.assign(rename, renamesOf(options, refuse))
      else if (kind === 'filterSchema') hide.push(...hiddenBy(options, refuse))
      else
        refuse(`transform ${kind} cannot be converted; expected prefix, rename or filterSchema with options`)
    }
  return filled({ prefix, rename, hide })
}

function prefixOf(options: Values, note: (text: string) => void): Transforms['prefix'] {
  const value = textOf(options['value']) ?? ''
  if (options['ignore'] !== undefined)
    note('prefix.ignore has no equivalent; set the names of the ignored types in rename')
  return {
    ...(options['includeTypes'] !== false && { types: value }),
    ...(options['includeRootOperations'] === true && { fields: value }),
  }
}

function renamesOf(options: Values, note: (text: string) => void): Record<string, string> {
  const found: Record<string, string> = {}
  for (const { from, to, ...how } of listOf(options['renames'])) {
    const [old, given] = [isRecord(from) ? from : {}, isRecord(to) ? to : {}]
    const [type = '', field, argument] = [textOf(old['type']), textOf(old['field']), textOf(old['argument'])]
    if (Object.entries(how).some(([key, value]) => key.startsWith('useRegExp') && value === true)) {
      note(
        `rename of ${[type, field].filter(Boolean).join('.')}: regular expressions have no equivalent; use * as a wildcard`,
      )
      continue
    }
    const newType = textOf(given['type'])
    if (newType !== undefined && newType !== type) found[type] = newType
    const newField = textOf(given['field'])
    if (field !== undefined && newField !== undefined && newField !== field)
      found[`${type}.${field}`] = newField
    const newArgument = textOf(given['argument'])
    if (field !== undefined && argument !== undefined && newArgument !== undefined)
      found[`${type}.${field}(${argument}:)`] = newArgument
  }
  return found
}

/** `Query.!a` hides, `Query.{a, b}` keeps. */
function hiddenBy(options: unknown, note: (text: string) => void): readonly string[] {
  const filters = Array.isArray(options) ? options : isRecord(options) ? options['filters'] : []
  return (Array.isArray(filters) ? filters : []).flatMap((filter: unknown) => {
    const [, type = '', not = '', names = ''] =
      /^(\w+)\.(!?)\{?\s*([\w\s,*]+?)\s*\}?$/.exec(String(filter)) ?? []
    const members = names.split(/\s*,\s*/).filter((name) => name !== '')
    if (members.length === 0) {
      note(`filterSchema ${String(filter)} cannot be converted; list the types and fields to hide in hide`)
      return []
    }
    if (not === '' && members.includes('*')) return []
    if (type === 'Type') {
      if (not === '!') return members
      note(
        `filterSchema ${String(filter)}: a list of types to keep has no equivalent; list the types to hide in hide`,
      )
      return []
    }
    if (not === '!') return members.map((name) => `${type}.${name}`)
    return [`${type}.*`, ...members.map((name) => `!${type}.${name}`)]
  })
}
