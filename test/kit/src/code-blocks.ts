/** A fenced block of a markdown page. */
export interface CodeBlock {
  /** Its language; empty where none is named. */
  readonly language: string
  /** The file that it is, as `[name]` beside the language says. */
  readonly file: string | undefined
  readonly code: string
  /** Of its first line, counted from 1. */
  readonly line: number
}

/** The fenced blocks of a page, in order. */
export function codeBlocks(markdown: string): CodeBlock[] {
  return [...markdown.matchAll(/^( *)```(\w*)(?: +\[([^\]]+)\])?[^\n]*\n(.*?)^\1```$/gms)].map((match) => {
    const [, indent = '', language = '', file, text = ''] = match
    const code = indent === '' ? text : text.replaceAll(new RegExp(`^${indent}`, 'gm'), '')
    return { language, file, code, line: markdown.slice(0, match.index).split('\n').length + 1 }
  })
}
