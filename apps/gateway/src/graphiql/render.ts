import type { GraphiQLOptions } from 'graphql-yoga'
import { ASSETS } from '../assets.ts'
import { inlineJson } from '../texts/escapes.ts'
import { changeBundle } from './bundle.ts'

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
