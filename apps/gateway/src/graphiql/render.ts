import type { GraphiQLOptions } from 'graphql-yoga'

/**
 * GraphiQL's tabs can be dragged, and the library behind it moves a tab to where it stood while the page was loading
 * as soon as it is pressed: the click lands beside it and is lost.
 */
const TABS_STAY = '<style>.graphiql-tabs > li { transform: none !important }</style>'

/** GraphiQL with its assets inside. They are loaded when a browser first asks: they are a third of a gateway's memory. */
export async function renderGraphiQL(options?: GraphiQLOptions): Promise<string> {
  const { renderGraphiQL: render } = await import('@graphql-yoga/render-graphiql')
  return render(options).replace('</head>', `${TABS_STAY}</head>`)
}
