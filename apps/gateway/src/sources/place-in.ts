import { isRecord } from '@vinyasa/base'
import type { ConfigMistake } from '../errors.ts'

/** What a source says is wrong with its entry, a mistake for each line, with the setting that the line speaks of. */
export function mistakesOf(section: string, name: string, entry: object, message: string): ConfigMistake[] {
  return message.split('\n').map((line, index) => ({
    text: index === 0 ? `${section}.${name}: ${line}` : line,
    at: [section, name, ...settingIn(entry as Readonly<Record<string, unknown>>, line)],
  }))
}

/** The setting that a line begins with, or names by what it holds, as far as the entry has it. */
function settingIn(entry: Readonly<Record<string, unknown>>, line: string): readonly PropertyKey[] {
  const words = line.matchAll(/(?<![\w."])(\w+)(?=: )|\b(endpoint) "/g)
  for (const [, word = '', kind] of words) {
    const setting = kind === undefined ? word : 'endpoints'
    if (Object.hasOwn(entry, setting)) return [setting, ...memberIn(entry[setting], line)]
  }
  return []
}

/** The member that is named first: a line may say what could be meant. */
function memberIn(value: unknown, line: string): readonly PropertyKey[] {
  const entries: readonly (readonly [PropertyKey, unknown])[] = Array.isArray(value)
    ? value.map((one: unknown, index) => [index, one] as const)
    : isRecord(value)
      ? Object.keys(value).map((key) => [key, key] as const)
      : []
  const named = entries
    .map(([key, one]) => ({ key, at: placeOf(one, line) }))
    .filter(({ at }) => at >= 0)
    .toSorted((a, b) => a.at - b.at)
  return named.slice(0, 1).map(({ key }) => key)
}

function placeOf(one: unknown, line: string): number {
  if (!isRecord(one)) return line.indexOf(`"${String(one)}"`)
  const { name, type, field } = one
  return name === undefined
    ? line.indexOf(` ${String(type)}.${String(field)}:`)
    : line.indexOf(`"${String(name)}"`)
}
