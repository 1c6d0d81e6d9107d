/** Hooks of Yoga's own that something else can stand in for. */
export type OwnHook =
  | 'choose a body parser'
  | 'limit the body'
  | 'negotiate the media type'
  | 'validate by the engine'
  | 'remember what is valid'
  | 'mark errors of validation'

/** Parts of a hook's code by which it is known; bundlers write a call of an import as `(0, module.name)(…)`. */
const PARTS: Readonly<Record<OwnHook, readonly RegExp[]>> = {
  'choose a body parser': [/matchFn\(request\)/, /setRequestParser\(options\.parse\)/],
  'limit the body': [/limitRequestBodySize\)?\(/, /get\(['"]content-length['"]\)/],
  'negotiate the media type': [/getMediaTypesForRequestInOrder\)?\(request\)/, /setResultProcessor\(/],
  'validate by the engine': [/setValidationFn\(engine\.validate\)/],
  'remember what is valid': [/validationCacheByRules/],
  'mark errors of validation': [/GRAPHQL_VALIDATION_FAILED/],
}

/**
 * Whether a hook is this one of Yoga's own, by parts of its code, as nothing else tells it apart. One that is minified,
 * or of another version, does not look like it and is then an ordinary hook: right, and slower.
 */
export function isYogasOwn(hook: (payload: never) => unknown, own: OwnHook): boolean {
  const code = Function.prototype.toString.call(hook)
  return PARTS[own].every((part) => part.test(code))
}
