import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { findSlowness, type HardText } from './measure.ts'
import { scanSources, scanText } from './source-scan.ts'
import { EXCEPTIONS, isException } from './exceptions.ts'
import { textFunctions } from './text-functions.ts'

/** Commands that read files of the operator, once and by hand. */
const OF_THE_OPERATOR = ['apps/gateway/src/commands/']
const LENGTH = 16_384
/** A character of each class, as `\s` in a pattern stands for blanks. */
const CLASSES: Readonly<Record<string, string>> = {
  '\\s': ' ',
  '\\d': '1',
  '\\w': 'a',
  '\\S': 'a',
  '\\n': '\n',
  '\\t': '\t',
}

/** Texts of the characters of a pattern, alone and in pairs, that end so that the pattern fails late. */
function hardTexts(pattern: string): HardText[] {
  const characters = [...new Set(pattern.replaceAll(/\\[a-zA-Z]/g, (escape) => CLASSES[escape] ?? ''))].slice(
    0,
    16,
  )
  const pairs = characters.slice(1).map((character, index) => `${characters[index]}${character}`)
  return [...characters, ...pairs].flatMap((part) =>
    ['!', '\u0000\n'].map(
      (end): HardText =>
        (length) =>
          part.repeat(length / part.length) + end,
    ),
  )
}

it('every regular expression of the sources runs in linear time', async () => {
  const expressions = new Map(
    scanSources()
      .filter(({ file }) => !OF_THE_OPERATOR.some((folder) => file.startsWith(folder)))
      .flatMap(({ file, expressions: all }) =>
        all.map((expression) => [String(expression), { file, expression }]),
      ),
  )
  const unbounded = [...expressions.values()].filter(({ expression }) =>
    /[*+]|\{\d+,\}/.test(expression.source),
  )
  expect(unbounded.length).toBeGreaterThan(100)
  const found: string[] = []
  for (const { file, expression } of unbounded) {
    const read = (text: string): unknown =>
      expression.global ? text.replaceAll(expression, '') : expression.exec(text)
    const slow = await findSlowness(read, hardTexts(expression.source), LENGTH)
    found.push(...slow.map((slowness) => `${file} ${expression} on ${slowness}`))
  }
  expect(found.join('\n')).toBe('')
})

it('finds a quadratic expression', async () => {
  // Long enough that every round exceeds the greatest turn: a shorter text is measured at four times its length, too.
  const found = await findSlowness((text) => /a+$/.test(text), hardTexts('a+$').slice(0, 1), LENGTH * 3)
  expect(found).not.toEqual([])
})

it('every function of the table runs in linear time, and its longest turn is short', async () => {
  const found: string[] = []
  for (const { file, name, findSlowness } of textFunctions)
    found.push(...(await findSlowness()).map((slowness) => `${file} ${name} on ${slowness}`))
  expect(found.join('\n')).toBe('')
})

it('the table and the exceptions name every exported function that takes text', () => {
  const named = new Set(textFunctions.map(({ file, name }) => `${file}#${name}`))
  const scanned = scanSources().flatMap(({ file, textFunctions: names }) =>
    names.map((name) => `${file}#${name}`),
  )
  expect(scanned.length).toBeGreaterThan(200)
  expect(scanned.filter((one) => !named.has(one) && !isException(one))).toEqual([])
  // What is gone from the sources goes from the exceptions, too.
  expect(Object.keys(EXCEPTIONS).filter((start) => !scanned.some((one) => one.startsWith(start)))).toEqual([])
})

it('each function of the table is exported by its file', () => {
  const exported = (file: string, name: string): boolean =>
    new RegExp(`^export (?:async )?(?:function|class|const) ${name}\\b`, 'm').test(
      readFileSync(new URL(`../../../${file}.ts`, import.meta.url), 'utf8'),
    )
  expect(textFunctions.filter(({ file, name }) => !exported(file, name))).toEqual([])
})

it('finds a new function that takes text', () => {
  const source = `export function hidden(text: string): string { return text.trim() }
export const other = (request: Request) => request.url.split('/')
export class Reader { read(text: string) { return text } }
export function counts(count: number): number { return count }
function inner(text: string): string { return text }`
  expect(scanText('a', source).textFunctions).toEqual(['hidden', 'other', 'Reader'])
  expect(scanText('a', 'export function same(text: string) { return text }').textFunctions).toEqual([])
})
