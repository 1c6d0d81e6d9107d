import { expect, it } from 'vitest'
import { whyNot } from './fault.ts'
import { FAULTS } from './list.ts'

it.each(FAULTS)('the fault can be put back: $name', ({ edits }) => {
  expect(edits.flatMap((edit) => whyNot(edit) ?? [])).toEqual([])
})
