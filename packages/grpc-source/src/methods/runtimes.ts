import type { DescField, DescMessage, DescMethod, DescService } from '@bufbuild/protobuf'
import { keyed } from '@vinyasa/base'
import type { MessageDecoder } from '../codec/decode.ts'
import type { MessageEncoder } from '../codec/encode.ts'
import type { Contract, ContractOptions } from '../contract/contract.ts'
import { answersWithStream, methodId, type ExposedMethod } from '../contract/methods.ts'
import type { Comments } from '../descriptors/comments.ts'
import { neverConnected, type Endpoints } from '../endpoints.ts'
import type { Callable } from './call-site.ts'
import type { Invoker } from './invoker.ts'
import { MethodRuntime } from './method-runtime.ts'
import type { RpcErrorOptions } from './rpc-error.ts'

export interface RuntimesOptions
  extends Pick<ContractOptions, 'source' | 'annotations'>, Pick<Contract, 'exposed' | 'shapes' | 'findings'> {
  readonly endpoints: Endpoints
  readonly decoders: (message: DescMessage) => MessageDecoder
  readonly encoders: (message: DescMessage) => MessageEncoder
  readonly invoker: Invoker
  readonly errors: RpcErrorOptions
  readonly comments: Comments
}

/** How the methods of a set of descriptors are called. */
export interface Runtimes {
  /** Returns the runtime of a method as a field shows it. */
  of(method: Pick<ExposedMethod, 'desc' | 'wrapRequest' | 'responsePluck'>, isRead: boolean): MethodRuntime
  /** Returns the runtime of a method as a join reads by it, whether it changes something or not. */
  reader(desc: DescMethod): MethodRuntime
  /** From code: the request and the response are whole. */
  whole(desc: DescMethod): MethodRuntime
  /** The field that stands for the response of an exposed method. */
  pluckOf(desc: DescMethod): DescField | undefined
}

/** A service without an endpoint is a finding, once. */
export function createRuntimes(options: RuntimesOptions): Runtimes {
  const { source, annotations, endpoints, exposed, shapes, decoders, encoders, invoker, errors, comments } =
    options
  const { methods: overrides = {} } = source
  const withoutEndpoint = new Set<DescService>()

  for (const { desc } of exposed)
    if (overrides[methodId(desc)]?.keepRequestsOpen && desc.methodKind !== 'bidi_streaming')
      options.findings.push({
        element: methodId(desc),
        message: 'keepRequestsOpen applies only to bidirectional streaming methods; remove it',
        path: ['methods', methodId(desc), 'keepRequestsOpen'],
      })

  function of(
    method: Pick<ExposedMethod, 'desc' | 'wrapRequest' | 'responsePluck'>,
    isRead: boolean,
  ): MethodRuntime {
    return new MethodRuntime(method, {
      callable: toCallable(method.desc, isRead),
      encode: encoders(method.desc.input),
      invoker,
      shapes,
      errors,
      description: comments.of(method.desc),
      keepRequestsOpen: overrides[methodId(method.desc)]?.keepRequestsOpen ?? false,
    })
  }

  function toCallable(desc: DescMethod, isRead: boolean): Callable {
    const settings = overrides[methodId(desc)] ?? {}
    const transport = endpoints.of(desc.parent, annotations.service(desc.parent))
    if (!transport && !withoutEndpoint.has(desc.parent)) {
      withoutEndpoint.add(desc.parent)
      options.findings.push({
        file: desc.parent.file.proto.name,
        element: desc.parent.typeName,
        message: `has no endpoint; set endpoint, endpoints["${desc.parent.typeName}"] or (graphql.service).host`,
      })
    }
    const isStream = answersWithStream(desc)
    return {
      desc,
      path: `/${desc.parent.typeName}/${desc.name}`,
      transport: transport ?? neverConnected,
      decode: decoders(desc.output),
      timeoutMs: settings.timeoutMs ?? (isStream ? 0 : (source.timeoutMs ?? 15_000)),
      maxRetries: settings.retry?.maxRetries ?? source.retry?.maxRetries ?? 2,
      isRead,
    }
  }

  function pluckOf(desc: DescMethod): DescField | undefined {
    return exposed.find((method) => method.desc === desc)?.responsePluck
  }

  return {
    of,
    pluckOf,
    reader: (desc) => of({ desc, wrapRequest: undefined, responsePluck: pluckOf(desc) }, true),
    whole: keyed((desc: DescMethod) => {
      const isRead = exposed.some(
        (method) => method.desc === desc && (method.type === 'QUERY' || method.type === 'RESOLVER'),
      )
      return of({ desc, wrapRequest: undefined, responsePluck: undefined }, isRead)
    }),
  }
}
