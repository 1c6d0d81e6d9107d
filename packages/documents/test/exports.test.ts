import { expect, it } from 'vitest'
import * as documents from '../src/index.ts'

it('exports what it says', () => {
  expect(Object.keys(documents).sort()).toEqual([
    'collectFields',
    'createOperationMemo',
    'directiveArgument',
    'directiveVariables',
    'foldSelections',
    'forEachDirective',
    'forEachField',
    'fragmentOf',
    'fragmentsOf',
    'isIncluded',
    'possibleObjects',
    'schemaWith',
    'usedFragments',
    'usedVariables',
    'validateInOneWalk',
    'withDefaults',
    'withoutDirectives',
    'withoutTokens',
  ])
})
