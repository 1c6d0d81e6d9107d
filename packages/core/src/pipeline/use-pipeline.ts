import { flag, type KnownOptions, refuseWrongOptions, type Room } from '../index.ts'
import { validateInOneWalk } from '../documents/index.ts'
import { validate } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { Behaviour } from './behaviour.ts'
import type { interpreter } from './execution/interpreter.ts'
import { createDocumentRoom } from './document-room.ts'
import { Known } from './known.ts'
import { Pipeline } from './pipeline.ts'

export interface PipelineOptions {
  /**
   * Treats queries and mutations as equal if they differ only in the numbers and strings of their arguments. They are
   * executed with variables instead of these literals. It helps with clients that write values into their documents.
   * Literals stay if a plugin without a behaviour hooks into parsing, validation or execution, because it can read
   * them. Default false.
   */
  readonly liftLiterals?: boolean | undefined
  /**
   * Memory limit for cached documents. Other caches can share it. By default, the limit is 64 MiB and not
   * shared.
   */
  readonly room?: Room | undefined
}

const NAMES: KnownOptions<PipelineOptions> = { liftLiterals: flag, room: true }

const PIPELINE = Symbol.for('vinyasa.pipeline')

interface PipelinePlugin extends Plugin {
  readonly behaviour: Behaviour
  /** The list is empty, because the plugin does not change results by caller. */
  readonly readsHeaders: readonly string[]
  readonly [PIPELINE]: () => Pipeline | undefined
}

/**
 * Runs every operation of a Yoga server through one function. Documents are parsed and validated once, unless a
 * plugin hooks into that step. Functions in a plugin's `behaviour` replace its hooks; the hooks of other plugins run
 * as in Yoga. The other Vinyasa plugins add this plugin automatically. Its position in the list of plugins does not
 * matter.
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
      // `onParams` passes this handler to plugins. It runs after the `onParams` hooks of all plugins.
      Object.assign(yoga, { handleParams: pipeline.handleParams })
    },
    onSchemaChange() {
      known.clear()
    },
    // Only graphql's own function is replaced, not a function that another plugin has set.
    onValidate({ validateFn, setValidationFn }) {
      if (validateFn === validate) setValidationFn(validateInOneWalk as typeof validateFn)
    },
    // The pipeline does not execute operations through Envelop. This hook is called only for plugins with their
    // own transport.
    onExecute({ executeFn, setExecuteFn }) {
      const way = pipeline
      if (!way) return
      setExecuteFn(((args) => way.executeFor(args, executeFn as typeof interpreter)) as typeof executeFn)
    },
  }
  return plugin
}

/** Adds the pipeline plugin from `onPluginInit` of another plugin if the server does not have it. */
export function bringPipeline(init: { readonly plugins: unknown[] }): void {
  if (!init.plugins.some(isPipeline)) init.plugins.push(usePipeline())
}

/** Returns the pipeline of a server from the list of its plugins. */
export function pipelineOf(plugins: readonly unknown[]): Pipeline | undefined {
  return plugins.find(isPipeline)?.[PIPELINE]()
}

function isPipeline(plugin: unknown): plugin is PipelinePlugin {
  return PIPELINE in (Object(plugin) as object)
}
