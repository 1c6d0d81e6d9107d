import { expect, it } from 'vitest'
import { findSlowness, type HardText } from './measure.ts'
import { scanSources } from './source-scan.ts'

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
  expect(found).toEqual([])
})

it('finds a quadratic expression', async () => {
  const found = await findSlowness((text) => /a+$/.test(text), hardTexts('a+$'), LENGTH)
  expect(found).not.toEqual([])
})
