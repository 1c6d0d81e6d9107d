import { chain, getInstrumented, type Instrumentation, mapAsyncIterator } from 'graphql-yoga'
import type { MaybePromise } from '@vinyasa/base'
import { yogasExecutor } from '@vinyasa/yoga-internals'
import type { Behaviour } from './behaviour.ts'
import { aroundBy, compose } from './execution/around.ts'
import { interpreter } from './execution/interpreter.ts'
import { argsOf, type Execute, type Operation, withArgs } from './operation.ts'
import { envelopOthers } from './plugins/envelop-others.ts'
import { Others, type PluginStep, readPlugins } from './plugins/others.ts'
import { type Hook, readYoga, type Yoga, type MaskedErrors } from './yoga.ts'
import type { ExecutionResult, GraphQLError } from 'graphql'

/** A result, or its parts, with errors as clients may see them: as Envelop's `useMaskedErrors` leaves them, the last of all plugins. */
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

/** Yoga's executor, behind plans and all that stands around it. */
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

/** Other people's hooks that stand side by side run together, each group at its place among ours. */
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

/** Puts what plugins instrument of an execution around all of it. */
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
