import type { KnownBody } from './known/known-bodies.ts'
import type { LiftedOperation } from './literals/lift-literals.ts'
import type { KnownOperation, ShortParams } from './part.ts'
import { readParams } from './short-params.ts'
import type { ShortServer } from './short-server.ts'

/** What a request asks for. */
export interface AskedOperation {
  readonly params: ShortParams
  readonly operation: KnownOperation
  /** What the client sent, where the document is another one with variables in the place of its literals. */
  readonly sent: ShortParams
  readonly lifted: LiftedOperation | undefined
}

/** The parameters in a body or in the target of a GET, with texts in the place of ids; undefined: not for the short way. */
export function readAsked(server: ShortServer, sent: Buffer | string): ShortParams | undefined {
  const { judges, parseTarget, texts } = server
  const isTarget = typeof sent === 'string'
  const params = readParams(
    () => (isTarget ? parseTarget?.({ url: sent } as Request) : JSON.parse(sent.toString('utf8'))),
    texts,
  )
  if (!params) return undefined
  for (const judge of judges) if (!judge(isTarget ? undefined : sent, params)) return undefined
  return params
}

/** Undefined where nothing of the kind has gone through every hook. */
export function findAsked({ state, others }: ShortServer, params: ShortParams): AskedOperation | undefined {
  const operation = state.known.get(params)
  if (operation) return { params, operation, sent: params, lifted: undefined }
  const found = others.seesLiterals ? undefined : state.shapes?.find(params)
  return (
    found && { params: found.params, operation: found.lifted.operation, sent: params, lifted: found.lifted }
  )
}

export function askedBy(body: KnownBody, params: ShortParams): AskedOperation {
  return { params, operation: body.operation, sent: params, lifted: undefined }
}
