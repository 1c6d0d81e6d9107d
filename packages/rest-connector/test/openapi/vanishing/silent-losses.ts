import { importOpenApi } from '../../../src/index.ts'
import type { Addition } from './additions.ts'
import { placesIn, type Node, type Places } from './places.ts'

/** All that an import says of a document: the schema, what is sent, and the findings. */
async function read(document: Node): Promise<string> {
  const { endpoints, types, findings, forwardHeaders, variables } = await importOpenApi(document, {
    env: {},
    headers: true,
    links: true,
    nextPage: true,
  })
  return JSON.stringify([endpoints, types, findings, forwardHeaders, variables])
}

/** Operations of a document that are no fields. */
export async function leftOutOf(document: Node): Promise<ReadonlySet<string>> {
  const { findings } = await importOpenApi(structuredClone(document), { env: {} })
  return new Set(
    findings.flatMap(({ message }) => {
      const [, method = '', path = ''] = /^([A-Z]+) (\S+) is skipped/.exec(message) ?? []
      return path === '' ? [] : [`${path} ${method.toLowerCase()}`]
    }),
  )
}

/**
 * Whether an addition to a copy of a document, at one of its places, changes neither the schema, nor what is sent, nor the
 * findings; undefined: it does not fit there.
 */
export async function isLostSilently<K extends keyof Places>(
  given: Node,
  leftOut: ReadonlySet<string>,
  addition: Addition<Places[K][number]>,
  [kind, index]: readonly [K, number],
): Promise<boolean | undefined> {
  const document = structuredClone(given)
  const place = placesIn(document, (path) => leftOut.has(path))[kind][index] as Places[K][number]
  if (addition.isFit?.(place) === false) return undefined
  addition.prepare?.(place, document)
  const before = await read(structuredClone(document))
  addition.put(place, document)
  return before === (await read(document))
}
