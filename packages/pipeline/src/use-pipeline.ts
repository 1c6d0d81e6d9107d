import { flag, type KnownOptions, refuseWrongOptions, type Room } from '@vinyasa/base'
import type { Plugin } from 'graphql-yoga'
import type { Behaviour } from './behaviour.ts'
import type { interpreter } from './execution/interpreter.ts'
import { onValidate } from './execution/one-walk.ts'
import { createDocumentRoom } from './document-room.ts'
import { Known } from './known.ts'
import { Pipeline } from './pipeline.ts'

export interface PipelineOptions {
  /**
   * Takes a query or mutation for prepared that differs from prepared ones in the numbers and texts of its arguments
   * alone, and executes it with variables in their places: clients that write values into their documents then send no new
   * one each time. Where a plugin without a behaviour hooks into parsing, validation or execution nothing is lifted: it may
   * look at values in documents. For servers none of whose other plugins does. Default false.
   */
  readonly liftLiterals?: boolean | undefined
  /** Room for documents, shared with others that keep some. Default: its own, of 64 MiB. */
  readonly room?: Room | undefined
}

const NAMES: KnownOptions<PipelineOptions> = { liftLiterals: flag, room: true }

const PIPELINE = Symbol.for('vinyasa.pipeline')

interface PipelinePlugin extends Plugin {
  readonly behaviour: Behaviour
  /** It changes no result by who asks. */
  readonly readsHeaders: readonly string[]
  readonly [PIPELINE]: () => Pipeline | undefined
}

/**
 * Sends every operation of a Yoga server one way: a document that was parsed and validated before is not again, where
 * nobody looks at that. Plugins that state what they do (`Behaviour`) do that; all others are called by their hooks, as
 * ever. Plugins of Vinyasa bring it along; by itself it stands anywhere among the plugins.
 */
export function usePipeline(options: PipelineOptions = {}): Plugin {
  refuseWrongOptions('usePipeline', options, NAMES)
  const { liftLiterals = false, room } = options
  const known = new Known(room ?? createDocumentRoom(), liftLiterals)
  let pipeline: Pipeline | undefined
  const plugin: PipelinePlugin = {
    behaviour: {},
    readsHeaders: [],
    [PIPELINE]: () => pipeline,
    onYogaInit({ yoga }) {
      pipeline = new Pipeline(yoga, known)
      // It is what `onParams` hands out, after which every plugin has had its word.
      Object.assign(yoga, { handleParams: pipeline.handleParams })
    },
    onSchemaChange() {
      known.clear()
    },
    onValidate,
    // The pipeline asks Envelop to execute no operation. Who does is a plugin with a transport of its own.
    onExecute({ executeFn, setExecuteFn }) {
      const way = pipeline
      if (!way) return
      setExecuteFn(((args) => way.executeFor(args, executeFn as typeof interpreter)) as typeof executeFn)
    },
  }
  return plugin
}

/** Adds the pipeline to a server that has none, from a plugin's `onPluginInit`. */
export function bringPipeline(init: { readonly plugins: unknown[] }): void {
  if (!init.plugins.some(isPipeline)) init.plugins.push(usePipeline())
}

/** The pipeline of a server, from its plugins. */
export function pipelineOf(plugins: readonly unknown[]): Pipeline | undefined {
  return plugins.find(isPipeline)?.[PIPELINE]()
}

function isPipeline(plugin: unknown): plugin is PipelinePlugin {
  return PIPELINE in (Object(plugin) as object)
}
