import { renderGraphiQL as render } from '@graphql-yoga/render-graphiql'
import type { GraphiQLOptions } from 'graphql-yoga'

/**
 * GraphiQL's tabs can be dragged, and the library behind it moves a tab to where it stood while the page was loading
 * as soon as it is pressed: the click lands beside it and is lost.
 */
const TABS_STAY = '<style>.graphiql-tabs > li { transform: none !important }</style>'

/** GraphiQL with its assets inside. */
export function renderGraphiQL(options?: GraphiQLOptions): string {
  return render(options).replace('</head>', `${TABS_STAY}</head>`)
}
