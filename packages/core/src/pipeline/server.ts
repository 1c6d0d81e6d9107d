import {
  chain,
  getInstrumented,
  type Instrumentation,
  mapAsyncIterator,
  envelop,
  type Plugin,
} from 'graphql-yoga'
import type { MaybePromise } from '../index.ts'
import { yogasExecutor, yogasPlugins } from '../yoga-internals.ts'
import type { Behaviour } from './behaviour.ts'
import { aroundBy, compose, interpreter } from './around.ts'
import { argsOf, type Execute, type Operation, withArgs } from './operation.ts'
import { Others, type PluginStep, readPlugins, isBehaviour } from './plugins.ts'
import { type Hook, readYoga, type Yoga, type MaskedErrors, type Enveloped } from './yoga.ts'
import type { ExecutionResult, GraphQLError, DocumentNode, GraphQLSchema } from 'graphql'

/**
 * Creates Envelop's parsing and validation with the hooks of plugins without a behaviour. These include
 * Yoga's own plugins, such as its document cache. The result is for documents that the hooks of all plugins
 * have already processed.
 */
function envelopOthers(
  plugins: readonly unknown[],
): (context: object) => Pick<Enveloped, 'parse' | 'validate'> {
  const { documentCache } = yogasPlugins(plugins)
  const members = plugins.map((plugin) => Object(plugin) as Readonly<Record<string, Hook | undefined>>)
  const others = members.filter(({ behaviour }) => !isBehaviour(behaviour))
  const getEnveloped = envelop({
    plugins: others.map((plugin) => {
      const { onParse, onValidate } = plugin
      return {
        onParse,
        onValidate: onValidate && plugin === documentCache ? onceValid(onValidate) : onValidate,
      } as Plugin
    }),
  })
  return (context) => getEnveloped(context) as unknown as Enveloped
}

interface Validation {
  readonly params: {
    readonly schema: GraphQLSchema
    readonly documentAST: DocumentNode
    readonly rules?: readonly unknown[]
  }
  setResult(errors: readonly unknown[]): void
}

interface Validated {
  readonly result: readonly unknown[]
}

/**
 * Skips the validation cache of Yoga if the same rules have already accepted the document. A lookup in that
 * cache uses the names of all rules.
 */
function onceValid(onValidate: Hook): Hook {
  const valid = new WeakMap<DocumentNode, Required<Pick<Validation['params'], 'schema' | 'rules'>>>()
  return (payload) => {
    const { params, setResult } = payload as Validation
    const { schema, documentAST, rules = [] } = params
    const before = valid.get(documentAST)
    if (before?.schema === schema && isSame(before.rules, rules)) return setResult([])
    const note = (errors: readonly unknown[]): void => {
      if (errors.length === 0) valid.set(documentAST, { schema, rules: [...rules] })
    }
    const set = (errors: readonly unknown[]): void => {
      note(errors)
      setResult(errors)
    }
    const after = onValidate({ ...payload, setResult: set }) as ((done: Validated) => unknown) | undefined
    return (
      after &&
      ((done: Validated) => {
        note(done.result)
        return after(done)
      })
    )
  }
}

function isSame(some: readonly unknown[], others: readonly unknown[]): boolean {
  return some.length === others.length && some.every((rule, index) => rule === others[index])
}

/**
 * Creates functions that mask the errors of a result or of its parts for clients. They work like Envelop's
 * `useMaskedErrors` as the last plugin.
 */
function createMasking(masked: MaskedErrors | undefined): {
  whole(result: ExecutionResult): ExecutionResult
  parts(results: AsyncIterable<unknown>): AsyncIterable<unknown>
} {
  function whole(result: ExecutionResult): ExecutionResult {
    const { errors } = result
    if (!masked || errors == null) return result
    const { errorMessage, isDev } = masked
    const safe = errors.map((error) => masked.maskError(error, errorMessage, isDev) as GraphQLError)
    return { ...result, errors: safe }
  }
  return {
    whole,
    parts: (results) =>
      masked ? mapAsyncIterator(results, (part) => whole(part as ExecutionResult)) : results,
  }
}

type Member<Name extends keyof Behaviour> = NonNullable<Behaviour[Name]>

/** Parts of one server's pipeline, computed once. */
export class PipelineServer {
  readonly yoga: Yoga
  readonly steps: readonly PluginStep[]
  /** Steps that plugins instrument. */
  readonly instrumented: readonly string[]
  /** Hook of Yoga that adds CORS headers to responses for requests with an `Origin`. */
  readonly cors: Hook | undefined
  readonly others: Others
  readonly behaviours: readonly Behaviour[]
  readonly envelopOthers: ReturnType<typeof envelopOthers>
  readonly masking: ReturnType<typeof createMasking>
  /** Executes an operation with all wrappers. */
  readonly run: Execute
  readonly contexts: readonly Member<'context'>[]
  readonly refuses: readonly Member<'refuse'>[]
  readonly delivers: readonly Member<'deliver'>[]
  readonly partsSeen: readonly Member<'onPart'>[]
  readonly refusals: readonly Member<'refused'>[]
  readonly #admitters: readonly Member<'admits'>[]
  readonly #lifters: readonly Member<'lifts'>[]

  constructor(server: object) {
    this.yoga = readYoga(server)
    const { plugins, maskedErrors } = this.yoga
    const { steps, instrumented, cors } = readPlugins(plugins)
    this.steps = steps
    this.instrumented = instrumented
    this.cors = cors
    this.others = new Others(
      steps.flatMap(({ hooks }) => hooks ?? []),
      instrumented,
    )
    this.behaviours = steps.flatMap(({ behaviour }) => behaviour ?? [])
    this.envelopOthers = envelopOthers(plugins)
    this.masking = createMasking(maskedErrors)
    this.run = instrument(plugins, executorOf(steps, plugins))
    this.contexts = this.members('context')
    this.refuses = this.members('refuse')
    this.delivers = this.members('deliver')
    this.partsSeen = this.members('onPart')
    this.refusals = this.members('refused')
    this.#admitters = this.members('admits')
    this.#lifters = this.members('lifts')
  }

  /** Returns the functions of one name of all behaviours, in the order of the plugins. */
  members<Name extends keyof Behaviour>(name: Name): readonly Member<Name>[] {
    return this.behaviours.flatMap((behaviour) => {
      const member = behaviour[name] as ((...given: unknown[]) => unknown) | undefined
      return member ? [member.bind(behaviour) as unknown as Member<Name>] : []
    })
  }

  /**
   * Wraps an executor with the `execute` functions of behaviours. Envelop has already applied the hooks of other
   * plugins.
   */
  around(execute: typeof interpreter): Execute {
    return compose([...this.members('execute'), noteExecuted], (operation) =>
      operation.executor ? operation.executor(argsOf(operation), execute) : execute(argsOf(operation)),
    )
  }

  /** Returns whether every behaviour allows literals of the document to become variables. */
  readonly lifts: Member<'lifts'> = (prepared) =>
    this.admits(prepared) && this.#lifters.every((lifts) => lifts(prepared))

  /** Returns whether every behaviour allows the path for cached operations. */
  readonly admits: Member<'admits'> = (prepared) => this.#admitters.every((admits) => admits(prepared))
}

/** Returns Yoga's executor with all wrappers and plans. */
function executorOf(steps: readonly PluginStep[], plugins: readonly unknown[]): Execute {
  const execute = yogasExecutor(plugins) ?? interpreter
  const plans = steps.flatMap(({ behaviour }) => (behaviour?.plan ? [behaviour.plan.bind(behaviour)] : []))
  const ordinarily = compose(plans, (operation) => execute(argsOf(operation)))
  return compose([...aroundsOf(steps), noteExecuted, ...plans], (operation) => {
    const { executor } = operation
    if (!executor) return execute(argsOf(operation))
    return executor(argsOf(operation), (args) =>
      ordinarily({ ...withArgs(operation, args), executor: undefined }),
    )
  })
}

function noteExecuted(operation: Operation, next: Execute): MaybePromise<unknown> {
  operation.progress.wasExecuted = true
  return next(operation)
}

/**
 * Returns the wrappers of the executor in the order of the plugins. `onExecute` hooks of adjacent plugins
 * form one wrapper.
 */
function aroundsOf(steps: readonly PluginStep[]): Member<'execute'>[] {
  const arounds: Member<'execute'>[] = []
  let group: NonNullable<PluginStep['hooks']>['onExecute'][] = []
  const close = (): void => {
    if (group.length > 0) arounds.push(aroundBy(group.flatMap((hook) => hook ?? [])))
    group = []
  }
  for (const { behaviour, hooks } of steps) {
    if (hooks?.onExecute) group.push(hooks.onExecute)
    if (!behaviour?.execute) continue
    close()
    arounds.push(behaviour.execute.bind(behaviour))
  }
  close()
  return arounds
}

/** Wraps the complete execution with the `execute` instrumentation of plugins. */
function instrument(plugins: readonly unknown[], run: Execute): Execute {
  const given = plugins.flatMap((plugin) => {
    const { instrumentation } = Object(plugin) as { readonly instrumentation?: Instrumentation<object> }
    return instrumentation?.execute ? [{ execute: instrumentation.execute }] : []
  })
  if (given.length === 0) return run
  const { execute } = given.reduce((first, second) => chain(first, second))
  return (operation) => {
    const { context } = operation
    return getInstrumented({ context }).asyncFn(execute as never, run as never)(operation as never)
  }
}
