import { readFileSync } from 'node:fs'
import type { GraphiQLOptions } from 'graphql-yoga'
import { ASSETS_FOLDER } from '../assets-folder.ts'

/** Where GraphiQL takes its own plugins, the history, or else those that it is given: Yoga gives it the explorer. */
const OWN_OR_GIVEN_PLUGINS = /(\w+)=(\w+)===void 0\?\[(\w+)\]:\2,/

/** GraphiQL with its assets inside. They are loaded when a browser first asks: they are a third of a gateway's memory. */
export async function renderGraphiQL(options?: GraphiQLOptions): Promise<string> {
  const { renderGraphiQL: render } = await import('@graphql-yoga/render-graphiql')
  const head = `<meta name="viewport" content="width=device-width, initial-scale=1"><style>${asset('page.css')}</style><script>${asset('live-sign.js')}</script></head>`
  return render(options)
    .replace('</head>', () => head)
    .replace(OWN_OR_GIVEN_PLUGINS, '$1=[$3,...$2??[]],')
}

function asset(name: string): string {
  return readFileSync(new URL(`graphiql/${name}`, ASSETS_FOLDER), 'utf8')
}
