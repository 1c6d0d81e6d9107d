import type { Plugin } from 'graphql-yoga'
import { type Behaviour, type Operation, pipelineOf } from '@vinyasa/core/pipeline'

type CountingPlugin = Plugin & { readonly behaviour: Behaviour; readonly readsHeaders: readonly string[] }

/**
 * Creates a plugin that lists the operations of cached documents that node-handler executes directly, without the
 * pipeline's handler for parameters.
 */
export function countShortRuns(): { readonly plugin: CountingPlugin; readonly calls: Operation[] } {
  const calls: Operation[] = []
  const handled = new WeakSet<object>()
  const count = (operation: Operation): undefined => {
    if (!handled.has(operation.context)) calls.push(operation)
    return undefined
  }
  const last: Plugin & { readonly behaviour: Behaviour } = {
    behaviour: {},
    onYogaInit({ yoga }) {
      const { plugins } = yoga as unknown as { readonly plugins: unknown[] }
      const pipeline = pipelineOf(plugins)
      const handle = pipeline?.handleParams
      // The pipeline is created in the same hook of a later plugin.
      if (!handle) return void plugins.push({ ...last })
      const handleParams: typeof handle = (payload) => {
        handled.add(payload.context)
        return handle(payload)
      }
      Object.assign(pipeline, { handleParams })
      Object.assign(yoga, { handleParams })
    },
  }
  const plugin: CountingPlugin = {
    readsHeaders: [],
    behaviour: { refuse: count, refused: count },
    onPluginInit: ({ plugins }) => void plugins.push(last as never),
  }
  return { plugin, calls }
}
