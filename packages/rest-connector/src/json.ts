import { randomUUID } from 'node:crypto'
import { canonicalJson } from '@vinyasa/core'
import { badInput } from './errors.ts'

/** JSON text of a value; a bigint is written with all its digits, which `JSON.stringify` cannot. */
export function toJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null'
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return exactJson(value, 0)
  }
}

function exactJson(value: unknown, depth: number): string {
  if (depth > 200) throw badInput('An argument is nested more than 200 levels deep.')
  if (typeof value === 'bigint') return value.toString()
  if (Array.isArray(value)) return `[${value.map((item) => exactJson(item, depth + 1)).join(',')}]`
  if (typeof value === 'object' && value !== null && !('toJSON' in value)) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined)
    return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${exactJson(member, depth + 1)}`).join(',')}}`
  }
  return JSON.stringify(value) ?? 'null'
}

/** A string without an end reaches to the end of the text: no quote in it is tried again. */
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** In JSON text, and now and then in a string of it. */
const LONG_INTEGER = /(?<![\d.])\d{16,}(?![\d.eE])/

/**
 * Parses JSON and keeps every integer that a JavaScript number would round: it becomes a string of its digits.
 * Texts without such an integer, which is nearly all, go straight to `JSON.parse`.
 */
export function parseExactJson(text: string): unknown {
  if (!LONG_INTEGER.test(text)) return JSON.parse(text)
  const exact = text.replace(STRING_OR_NUMBER, (token) =>
    token.length >= 16 && /^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token))
      ? `"${token}"`
      : token,
  )
  return JSON.parse(exact)
}

/** Text that is equal for equal arguments. What has no JSON text to stand for it is equal to nothing. */
export function argumentsText(args: Readonly<Record<string, unknown>>): string {
  return canonicalJson(args, textOfOther) ?? randomUUID()
}

function textOfOther(value: unknown): string | undefined {
  if (typeof value === 'bigint') return `${value}n`
  const { toJSON } = Object(value) as { readonly toJSON?: unknown }
  return typeof toJSON === 'function' ? JSON.stringify(value) : undefined
}
