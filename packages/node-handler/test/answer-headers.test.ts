import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { AnswerHeaders } from '../src/cycle/send.ts'

const names = ['content-type', 'X-Mine', 'x-mine', 'Vary', 'set-cookie']
const name = fc.constantFrom(...names)
const change = fc.oneof(
  fc.tuple(fc.constantFrom('set' as const, 'append' as const), name, fc.constantFrom('a', 'b', 'c')),
  fc.tuple(fc.constant('delete' as const), name),
)

it('says what Headers would say, whatever is done to it', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 12 }), (changes) => {
      const ours = new AnswerHeaders(['content-type', 'application/json', 'content-length', '7'])
      const theirs = new Headers({ 'content-type': 'application/json', 'content-length': '7' })
      for (const [method, ...given] of changes) {
        ;(ours[method] as (...given: string[]) => void)(...given)
        ;(theirs[method] as (...given: string[]) => void)(...given)
      }
      for (const asked of [...names, 'content-length', 'none']) {
        expect([asked, ours.get(asked), ours.has(asked)]).toEqual([
          asked,
          theirs.get(asked),
          theirs.has(asked),
        ])
      }
      const lines = ours.lines.map((text, at) => (at % 2 === 0 ? text : `=${text};`)).join('')
      expect(lines.split(';').sort()).toEqual(
        [...theirs, []].map(([key, value]) => (key ? `${key}=${value}` : '')).sort(),
      )
    }),
  )
})
