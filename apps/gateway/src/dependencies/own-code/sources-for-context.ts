/** Under it the sources of one context make those of another. */
export const FOR_CONTEXT: unique symbol = Symbol('vinyasa.sources-for-context')

interface ContextSources {
  readonly [FOR_CONTEXT]?: (context: object) => object
}

/** The same sources for another context, such as a view of the one that they are of. */
export function sourcesForContext(sources: object, context: object): object {
  return (sources as ContextSources)[FOR_CONTEXT]?.(context) ?? sources
}
