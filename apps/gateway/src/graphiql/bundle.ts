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
