import { writeInSlices, type JsonText } from '@vinyasa/core'
import {
  NotPlannable,
  sharedOf,
  type FastPath,
  type JoinedJson,
  type Prepared,
  type Site,
  type Started,
  writtenType,
} from '@vinyasa/source-kit'
import type { Args } from '../templates/template.ts'
import { compileArguments, ValueCompiler, type ValuePlan } from '../json/compile-object.ts'
import {
  createJoinRun,
  hasJoins,
  type JoinRun,
  loadJoins,
  type ObjectPlan,
  type PlannedJoin,
  Writing,
} from '../json/object-plan.ts'
import { marks, type PlannableEndpoint } from '../json/planned-field.ts'
import { setImmediate } from 'node:timers'

/** The most characters of text that is cheaper to encode than to send apart from the response's head. */
const LONG_TEXT = 4_096

/** Text, and by whom it is written, who tells how many objects are in it once it is there. */
interface Written {
  readonly text: JsonText | Promise<JsonText>
  readonly writing: Pick<Writing, 'objects'>
}

/**
 * The text of a value that several executions of a plan have of one call: they write it in the same turn of the event
 * loop, so it is kept until that ends. Only of frozen values, which are the same for all who have them.
 */
class WrittenOnce {
  #value: object | undefined
  #written: Written | undefined

  /** From the second time on in bytes, where it is long: they are encoded once. */
  of(value: unknown): Written | undefined {
    if (value === undefined || value !== this.#value || !this.#written) return undefined
    const { text, writing } = this.#written
    if (typeof text === 'string' && text.length > LONG_TEXT)
      this.#written = { text: Buffer.from(text), writing }
    return this.#written
  }

  keep(value: unknown, written: Written): void {
    if (typeof value !== 'object' || value === null || !Object.isFrozen(value)) return
    if (!this.#value) setImmediate(() => this.#forget())
    this.#value = value
    this.#written = written
  }

  #forget(): void {
    this.#value = undefined
    this.#written = undefined
  }
}

/** One root field of a plan. */
interface PlannedCall {
  /** The response name. */
  readonly key: string
  readonly endpoint: PlannableEndpoint
  readonly argumentsOf: PlannedJoin['argumentsOf']
  readonly value: ValuePlan
}

/** A root field with the text around its JSON. */
interface WrittenCall extends PlannedCall {
  readonly before: string
  readonly after: string
  /** Undefined where what joins bring is in it: that is of one execution. */
  readonly once: WrittenOnce | undefined
}

/** Takes the fields of all connectors together: a join that several of them select is one call. */
export const restFastPath: FastPath = {
  prepareRoots(selections, scope) {
    const compiler = new ValueCompiler(scope)
    const calls = selections.map(({ key, field, nodes: [node, ...others] }): PlannedCall => {
      const endpoint = marks.of(field)
      if (!node || endpoint?.kind !== 'endpoint')
        throw new NotPlannable(
          `the field ${field.name} does not have the resolver of a REST endpoint, so graphql-js must execute the operation`,
        )
      return {
        key,
        endpoint,
        argumentsOf: compileArguments(field, node),
        value: compiler.value(writtenType(field), [node, ...others], false),
      }
    })
    const prepare = (before: string, after: string): Prepared => {
      const written = calls.map((call): WrittenCall => {
        const { object } = call.value
        const once = object && hasJoins(object) ? undefined : new WrittenOnce()
        return { ...call, before, after, once }
      })
      return { start: (site) => start(written, site) }
    }
    const [first] = calls
    return {
      ...prepare('', ''),
      isOneCall: calls.length === 1 && !(first?.value.object && hasJoins(first.value.object)),
      whole: prepare,
    }
  },

  prepareJoin({ field, nodes }, scope) {
    const join = marks.of(field)
    if (join?.kind !== 'join')
      throw new NotPlannable(
        `the field ${field.name} is not a batched join, so graphql-js must execute the operation`,
      )
    const { write, ...below } = new ValueCompiler(scope).joined(field, nodes, join)
    // Nothing is known of the parents but their keys.
    const planned: PlannedJoin = { ...below, kind: 'join', key: ({ key }) => key }
    const selected: Pick<ObjectPlan, 'below'> = { below: [planned] }
    return {
      parentKey: join.parentField,
      start(site) {
        const run = sharedOf(site, createJoinRun)
        const loads: Promise<void>[] = []
        // This counts for all keys together, as each is in the answer at least once.
        const writing = new Writing(run, site.size)
        let characters = 0
        return {
          async load(keys) {
            loads.push(
              loadJoins(
                keys.map((key) => [selected, { key }]),
                run,
              ),
            )
            // A key that is on its way is not asked for again.
            await Promise.all(loads)
            const { items } = run.of(planned)
            return keys.map((key): JoinedJson => {
              const { objects } = writing
              const found = key === null ? [] : items(key)
              const text = write(join.many ? found : found[0], writing)
              characters += text.length
              writing.hold(characters)
              return { length: text.length, objects: writing.objects - objects, json: () => text }
            })
          },
          recorded: () => run.recorded(),
        }
      },
    }
  },
}

function start(calls: readonly WrittenCall[], site: Site): Started {
  const run = sharedOf(site, createJoinRun)
  let given: Args[]
  try {
    given = calls.map(({ argumentsOf }) => argumentsOf(site.variables))
  } catch (error) {
    return { json: Promise.reject(error), recorded: () => run.recorded() }
  }
  const pending = calls.map(({ endpoint }, index) => endpoint.call(given[index] as Args, run.scope))
  const loads: Promise<void>[] = []
  const complete = calls.map(({ value: { object } }, index) => {
    const reply = pending[index] as Promise<unknown>
    if (!object || !hasJoins(object)) return reply
    return reply.then(async (value) => {
      loads.push(loadJoins([[object, value]], run))
      // Fields with one selection share a plan of it: a key that another one has asked for is not asked for again.
      await Promise.all(loads)
      return value
    })
  })
  return {
    json: writeAll(calls, complete, run, site.size),
    recorded() {
      const roots = new Map<string, () => unknown>()
      for (const [index, { key }] of calls.entries()) {
        const reply = pending[index] as Promise<unknown>
        // Execution may end before it looks at every field.
        reply.catch(() => {})
        roots.set(key, () => reply)
      }
      return { ...run.recorded(), roots }
    },
  }
}

async function writeAll(
  calls: readonly WrittenCall[],
  complete: readonly Promise<unknown>[],
  run: JoinRun,
  size: Site['size'],
): Promise<JsonText[]> {
  const texts = calls.map((call, index) => write(call, complete[index] as Promise<unknown>, run, size))
  const [only] = texts
  // One that is too large is known before the others are there.
  return only && texts.length === 1 ? [await only] : Promise.all(texts)
}

async function write(
  call: WrittenCall,
  complete: Promise<unknown>,
  run: JoinRun,
  size: Site['size'],
): Promise<JsonText> {
  const value = await complete
  let written = call.once?.of(value)
  if (written === undefined) {
    written = writeOne(call, value, new Writing(run, size))
    call.once?.keep(value, written)
  }
  const { text, writing } = written
  const json = text instanceof Promise ? await text : text
  size.add(writing.objects, 0)
  return json
}

function writeOne(
  { value, endpoint, before, after }: WrittenCall,
  given: unknown,
  writing: Writing,
): Written {
  const { pieces } = value
  if (!pieces) return { text: `${before}${value.write(given, writing)}${after}`, writing }
  const hold = (characters: number): void => writing.hold(characters)
  return { text: writeInSlices(pieces(given, writing), endpoint.turns, before, after, hold), writing }
}
