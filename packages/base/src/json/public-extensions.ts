type Extensions = Readonly<Record<string, unknown>>

/** Extensions as clients may see them: Yoga's `http` and `unexpected` speak to the server. Undefined: nothing is left. */
export function publicExtensions(extensions: Extensions | undefined): Extensions | undefined {
  if (!extensions) return undefined
  const { http: _http, unexpected: _unexpected, ...shown } = extensions
  return Object.keys(shown).length > 0 ? shown : undefined
}
