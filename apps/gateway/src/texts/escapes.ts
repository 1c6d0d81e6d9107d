/** Controls except tabs and line feeds, and characters that reorder or break lines of text. */
// oxlint-disable-next-line no-control-regex -- control characters are what is replaced
const UNPRINTABLE = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

function escapeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/**
 * Returns the text as a terminal can show it: characters that control terminals or change the direction of text become
 * escapes such as `\u001b`, which are valid in JSON too. Texts of documents and backends can hold any character.
 */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, escapeOf)
}

/** Returns a comment of YAML, with each text in one line. */
export function commentOf(texts: readonly string[]): string {
  return texts.map((text) => `# ${printable(text).replaceAll('\n', ' ')}\n`).join('')
}

/** Returns JSON as it can stand inside a script of a page: no text in it can end the script. */
export function inlineJson(json: string): string {
  return json.replaceAll(/[<>\u2028\u2029]/g, escapeOf)
}
