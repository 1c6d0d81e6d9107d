import { expect, it } from 'vitest'
import * as base from '../src/index.ts'

it('exports what it says', () => {
  expect(Object.keys(base).sort()).toEqual([
    'after',
    'atWallTime',
    'attempt',
    'backgroundClock',
    'createRecent',
    'isAsyncIterable',
    'isPromise',
    'sleep',
    'systemClock',
  ])
})
