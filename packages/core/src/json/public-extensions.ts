type Extensions = Readonly<Record<string, unknown>>

/**
 * Returns error extensions without Yoga's internal `http` and `unexpected`. Returns `undefined` if the rest is empty.
 */
export function publicExtensions(extensions: Extensions | undefined): Extensions | undefined {
  if (!extensions) return undefined
  const { http: _http, unexpected: _unexpected, ...shown } = extensions
  return Object.keys(shown).length > 0 ? shown : undefined
}
