export {
  collectFields,
  directiveArgument,
  directiveVariables,
  type FieldWalk,
  foldSelections,
  forEachDirective,
  forEachField,
  fragmentOf,
  type Fragments,
  fragmentsOf,
  isIncluded,
  possibleObjects,
  usedFragments,
  usedVariables,
  type Variables,
  withDefaults,
  withoutDirectives,
} from './fields.ts'
export { createOperationMemo, schemaWith } from './operation-memo.ts'
export { validateInOneWalk } from './validate-in-one-walk.ts'
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
