import type { GraphQLSchema } from 'graphql'
import type { GraphiQLOptions } from 'graphql-yoga'
import { examplesFor, type ExampleOperation } from './examples.ts'

const LOGO = `<svg viewBox="0 0 40 40" width="28" height="28" aria-hidden="true" style="margin:auto;color:hsl(var(--color-primary))">
  <path d="M4 30 C12 30 12 10 20 10 S28 30 36 30" fill="none" stroke="currentColor" stroke-width="4" stroke-linecap="round"/>
  <circle cx="20" cy="10" r="4" fill="currentColor"/></svg>`

/** GraphiQL with a tab for each example: the config's own, or ones made for the schema. */
export function graphiqlOptions(
  schema: GraphQLSchema,
  examples: readonly ExampleOperation[] | undefined,
): GraphiQLOptions {
  const tabs = (examples ?? examplesFor(schema)).map(({ query, variables }) => ({
    query,
    ...(variables !== undefined && { variables }),
  }))
  return {
    title: 'Vinyasa',
    logo: LOGO,
    defaultEditorToolsVisibility: false,
    ...(tabs.length > 0 && { defaultTabs: tabs }),
  }
}
