import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { run } from '../src/cli.ts'
import { substituteEnvironment, textOf, withoutVariables } from '../src/config/file/environment.ts'
import { renderGraphiQL } from '../src/graphiql/render.ts'
import { commentOf, printable } from '../src/texts/escapes.ts'

const text = fc.string({ unit: 'binary', maxLength: 40 })

describe('text of a document', () => {
  it('is the same in a config, whatever it has of variables', () => {
    const pieces = fc.array(fc.constantFrom('$', '{', '}', 'X', ':-', '${', '$${', '${X}', 'a'), {
      maxLength: 12,
    })
    fc.assert(
      fc.property(pieces, (parts) => {
        const mistakes: unknown[] = []
        const written = withoutVariables(parts.join(''))
        const read = substituteEnvironment(written, { X: 'secret' }, (mistake) => mistakes.push(mistake))
        expect(textOf(read)).toBe(parts.join(''))
        expect(mistakes).toEqual([])
      }),
      { numRuns: 1000 },
    )
  })

  it('stays in its comment', () => {
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 5 }), (lines) => {
        expect(
          parse(`${commentOf(lines.map((line) => `${line}\rx: 1\r\ny: 2\u2028z: 3\u0085`))}a: 1`),
        ).toEqual({ a: 1 })
      }),
    )
  })

  it('is shown without characters that control a terminal, and JSON keeps its value', () => {
    fc.assert(
      fc.property(text, (given) => {
        const shown = printable(JSON.stringify({ given }))
        // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
        expect(shown).not.toMatch(/[\0-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/)
        expect(JSON.parse(shown)).toEqual({ given })
      }),
    )
    expect(printable('\u001b[31m\u009b2J\u202ered\r\n\tblue é 名 👍')).toBe(
      String.raw`\u001b[31m\u009b2J\u202ered\u000d` + '\n\tblue é 名 👍',
    )
  })
})

it('commands print no control characters, of errors and questions neither', async () => {
  const shown: string[] = []
  const show = (line: string): void => void shown.push(line)
  const context = {
    directory: '/',
    environment: {},
    shutdown: new AbortController().signal,
    reload: new EventTarget(),
    print: show,
    printError: show,
    ask: async (question: string) => {
      show(question)
      return '\u001b[31mnone.proto'
    },
  }
  expect(await run(['init'], context)).toBe(1)
  expect(await run(['check', '--config', '\u001b[31mnone.yaml'], context)).toBe(1)
  expect(shown.filter((line) => line.includes('none'))).toHaveLength(2)
  expect(shown.join('')).toContain(String.raw`\u001b[31mnone`)
  expect(shown.join('')).not.toContain('\u001b')
})

describe('the page of GraphiQL', () => {
  const scripts = (page: string): number => page.match(/<\/script/gi)?.length ?? 0

  it.each(['</script><script>alert(1)</script>', '<!--<script>', '\u2028\u2029', "$& $' $`"])(
    'holds an example with %j as it is',
    async (query) => {
      const plain = await renderGraphiQL({ defaultTabs: [{ query: 'x' }] })
      const page = await renderGraphiQL({ defaultTabs: [{ query }], title: 'x' })
      expect(scripts(page)).toBe(scripts(plain))
      const [, options = ''] =
        /renderYogaGraphiQL\(\s*window.document.querySelector\('#root'\),\s*(\{.*\}),\s*\);/.exec(page) ?? []
      expect(options).not.toMatch(/[<>\u2028\u2029]/)
      expect(JSON.parse(options)).toEqual({ defaultTabs: [{ query }], title: 'x' })
    },
  )
})
