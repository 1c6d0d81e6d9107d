import { Unsaid } from './migration.ts'

/** The parameters of the query of a URL, as a server reads them: names and values are decoded, since requests encode them anew. Throws {@link Unsaid}. */
export function queryOf(search: string): readonly (readonly [name: string, value: string])[] {
  return search
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const [name = '', value = ''] = pair.split(/=(.*)/s)
      return [decoded(name), decoded(value)] as const
    })
}

function decoded(text: string): string {
  if (/%7[bd]/i.test(text))
    throw new Unsaid(`encoded braces in the query of a URL (${text}) are not supported; remove them`)
  const spaced = text.replaceAll('+', ' ')
  try {
    return decodeURIComponent(spaced)
  } catch {
    // A percent sign that begins no code stands for itself.
    return spaced
  }
}
