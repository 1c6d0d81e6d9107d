import type { z } from 'zod'
import { definitionOf } from '../definition.ts'
import type { Mistake } from './describe-issue.ts'

export type Environment = Readonly<Record<string, string | undefined>>

const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i

/** A text that was made of variables: what type it has depends on where it stands. */
export class FromEnvironment {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Returns text as a config has to hold it, so that no part of it is taken for a variable. */
export function withoutVariables(text: string): string {
  return text.replaceAll('${', () => '$${')
}

/**
 * Replaces `${NAME}` and `${NAME:-default}` in every string of a parsed YAML or JSON config by {@link FromEnvironment};
 * the default, in which others may stand, is for a variable that is unset or empty, as in a shell. `$${` stands for a
 * literal `${`; any other is a mistake.
 */
export function substituteEnvironment(
  value: unknown,
  environment: Environment,
  onMistake: (mistake: Mistake) => void,
  path: readonly PropertyKey[] = [],
): unknown {
  if (typeof value === 'string')
    return substituteText(value, environment, (text) => onMistake({ path, text }))
  if (Array.isArray(value))
    return value.map((item, index) => substituteEnvironment(item, environment, onMistake, [...path, index]))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const at = [...path, key]
      if (/\$\{/.test(key))
        onMistake({
          path: at,
          text: '"${" is not allowed in names; environment variables are supported only in values',
          isName: true,
        })
      return [key, substituteEnvironment(item, environment, onMistake, at)]
    }),
  )
}

const BEGIN = /\$\$\{|\$\{/g
const VARIABLE = /^\$\{([A-Za-z_][A-Za-z0-9_]*)(:-|\})/

function substituteText(
  text: string,
  environment: Environment,
  onMistake: (text: string) => void,
): string | FromEnvironment {
  let made = ''
  let from = 0
  let hasVariable = false
  for (const { 0: begin, index } of text.matchAll(BEGIN)) {
    // Within the default of the one before.
    if (index < from) continue
    made += text.slice(from, index)
    from = index + begin.length
    if (begin !== '${') {
      made += '${'
      continue
    }
    hasVariable = true
    const [whole = '', name = '', rest] = VARIABLE.exec(text.slice(index)) ?? []
    const end = rest === ':-' ? endOfDefault(text, index + whole.length) : index + whole.length - 1
    if (name === '' || end < 0) {
      const shown = text.slice(index, index + 40).split('\n', 1)[0]
      onMistake(
        `cannot read a variable at "${shown}"; expected \${NAME} or \${NAME:-default}, or $\${ for a literal \${`,
      )
      break
    }
    from = end + 1
    const set = environment[name]
    if (rest !== ':-' && set === undefined)
      onMistake(`the environment variable ${name} is not set; set it, or write \${${name}:-default}`)
    if (rest !== ':-' || set) made += set ?? ''
    else made += String(textOf(substituteText(text.slice(index + whole.length, end), environment, onMistake)))
  }
  made += text.slice(from)
  return hasVariable ? new FromEnvironment(made) : made
}

/**
 * Returns where the brace stands that ends a default, or -1 if there is none; braces within it come in pairs.
 */
function endOfDefault(text: string, from: number): number {
  let open = 1
  for (let index = from; index < text.length; index++) {
    if (text[index] === '{') open += 1
    else if (text[index] === '}' && --open === 0) return index
  }
  return -1
}

/** The text of a value that was made of variables; other values as they are. */
export function textOf(value: unknown): unknown {
  return value instanceof FromEnvironment ? value.text : value
}

/** The text as what the schema takes there: as it is where texts are taken, else as a boolean or a number. */
export function typedFor({ text }: FromEnvironment, schema: unknown): unknown {
  const trimmed = text.trim()
  const boolean = trimmed === 'true' ? true : trimmed === 'false' ? false : undefined
  const number = NUMBER.test(trimmed) ? Number(trimmed) : undefined
  if (!isSchema(schema)) return text
  const candidates = [text, boolean, number].filter((candidate) => candidate !== undefined)
  const taken = candidates.find((candidate) => schema.safeParse(candidate).success)
  if (taken !== undefined) return taken
  // The mistake that is reported is then that of the value, not that it is text.
  const { type } = definitionOf(schema) ?? {}
  return candidates.find((candidate) => typeof candidate === type) ?? text
}

/** The texts of what no setting took, for what reports them. */
export function withTexts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withTexts)
  if (value === null || typeof value !== 'object' || value instanceof FromEnvironment) return textOf(value)
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withTexts(item)]))
}

function isSchema(value: unknown): value is z.ZodType {
  return typeof (value as Partial<z.ZodType> | undefined)?.safeParse === 'function'
}
