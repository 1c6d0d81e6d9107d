export {
  directiveArgument,
  directiveVariables,
  isIncluded,
  usedVariables,
  type Variables,
  withDefaults,
  withoutDirectives,
} from './directives.ts'
export { collectFields, type FieldWalk, foldSelections, forEachField, possibleObjects } from './fields.ts'
export {
  type Fragment,
  fragmentOf,
  type Fragments,
  fragmentsOf,
  type FragmentUse,
  usedFragments,
} from './fragments.ts'
export { schemaWith } from './schema-with.ts'
