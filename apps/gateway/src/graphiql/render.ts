import type { GraphiQLOptions } from 'graphql-yoga'
import { ASSETS } from '../assets.ts'
import { inlineJson } from '../texts/escapes.ts'

/**
 * Changes to the minified script of GraphiQL, as `@graphql-yoga/render-graphiql` 5.24 has it. A pattern that
 * begins with a word begins at its start: fonts are words of 100 kB, and each of their letters would be
 * tried.
 */
const CHANGES: readonly { readonly pattern: RegExp; readonly replacement: string }[] = [
  {
    // Its own plugins, the history, or those that it is given: Yoga gives it the explorer. Both.
    pattern: /\b(\w+)=(\w+)===void 0\?\[(\w+)\]:\2,/,
    replacement: '$1=[$3,...$2??[]],',
  },
  {
    // An error of the page itself, as of a document that it cannot parse: without the page's stack.
    pattern: /\b\w+\(\w+\(\{\},(\w+)\),\{message:\1\.message,stack:\1\.stack\}\)/,
    replacement: '$1.toJSON?.()??{message:$1.message}',
  },
  {
    // The server's errors are made anew, and lose their locations.
    pattern: /\.errors\.map\(\(\{message:(\w+),\.\.\.(\w+)\}\)=>(\w+)\(\1,\2\)\)/,
    replacement:
      '.errors.map(({message:$1,...$2})=>Object.assign($3($1,$2),$2.locations&&{locations:$2.locations}))',
  },
  {
    // GraphiQL leaves out what is not of the operation and prints the rest in one line; with this it sends
    // the rest where it was written.
    pattern:
      /(=\((\w+),\w+\)=>\{const (\w+)=\2\.definitions\.filter\([^;]*\);return\{kind:\w+,definitions:\3)\}/,
    replacement: '$1,text:besideGraphiQL.textAsWritten($2,$3)}',
  },
  {
    pattern: /(=function\((\w+)\)\{return )(\w+\(\2,\w+\)\};function \w+\(\{executionRequest:)/,
    replacement: '$1$2.text??$3',
  },
]

/** GraphiQL's page with all changes. */
export function changeBundle(html: string): string {
  return CHANGES.reduce((text, { pattern, replacement }) => text.replace(pattern, replacement), html)
}

/** In this order: each uses what stands before it. */
const SCRIPTS = ['tabs.js', 'live-sign.js', 'editors.js']

/** Nine megabytes, which take a fifth of a second to make: the next browser gets the same. */
let last: { readonly of: string; readonly page: string } | undefined

/** GraphiQL with its assets inside. They are loaded when a browser first asks: they are a third of a gateway's memory. */
export async function renderGraphiQL(options?: GraphiQLOptions): Promise<string> {
  const of = JSON.stringify(options ?? {})
  if (last?.of !== of) {
    const { renderGraphiQL: render } = await import('@graphql-yoga/render-graphiql')
    const head = `<meta name="viewport" content="width=device-width, initial-scale=1"><style>${ASSETS.get('graphiql/page.css')}</style><script>${SCRIPTS.map((name) => ASSETS.get(`graphiql/${name}`)).join('')}</script></head>`
    const html = render(options).replace(of, () => inlineJson(of))
    last = { of, page: changeBundle(html).replace('</head>', () => head) }
  }
  return last.page
}
