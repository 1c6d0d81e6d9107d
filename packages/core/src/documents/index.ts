export {
  directiveArgument,
  directiveVariables,
  forEachDirective,
  isIncluded,
  usedVariables,
  type Variables,
  withDefaults,
  withoutDirectives,
} from './directives.ts'
export { collectFields, type FieldWalk, foldSelections, forEachField, possibleObjects } from './fields.ts'
export { fragmentOf, type Fragments, fragmentsOf, usedFragments } from './fragments.ts'
export { createOperationMemo } from './operation-memo.ts'
export { schemaWith } from './schema-with.ts'
export { validateInOneWalk } from './validation/validate-in-one-walk.ts'
export { withoutTokens } from './without-tokens.ts'
export {
  type AnswerLimits,
  AnswerSize,
  type AnswerWatcher,
  answerSizeOf,
  beginAnswer,
  behindObjectCounter,
  endOfRead,
  isObjectCounter,
  measureJson,
  noteObjectCounter,
} from './answer-size.ts'
