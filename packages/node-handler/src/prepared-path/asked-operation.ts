import type { Asked, OperationParams } from '@vinyasa/pipeline'
import type { KnownBody } from './known-bodies.ts'
import type { PathServer } from './path-server.ts'
import { readParams } from './read-params.ts'

/** The parameters in a body or in the target of a GET, with texts in the place of ids; undefined: not for this path. */
export function readAsked(server: PathServer, sent: Buffer | string): OperationParams | undefined {
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

/** Undefined where no document of the kind was prepared before. */
export function findAsked(server: PathServer, params: OperationParams, method: string): Asked | undefined {
  const { known, others, takes } = server
  const asked = known.find(params, method, others.seesLiterals)
  return asked && takes(asked.prepared) ? asked : undefined
}

export function askedBy({ prepared }: KnownBody, params: OperationParams): Asked {
  return { params, prepared, sent: params, lifted: undefined }
}
