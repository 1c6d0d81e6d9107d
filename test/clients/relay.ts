import {
  buildSchema,
  getNamedType,
  isObjectType,
  Kind,
  parse,
  type GraphQLObjectType,
  type OperationDefinitionNode,
  type SelectionSetNode,
  valueFromASTUntyped,
} from 'graphql'
import type { Client as WsClient } from 'graphql-ws'
import { meros } from 'meros/browser'
import {
  createOperationDescriptor,
  Environment,
  Network,
  Observable,
  RecordSource,
  requestSubscription,
  Store,
} from 'relay-runtime'
import type { Library } from './libraries.ts'
import { typeDefs } from './world.ts'

const schema = buildSchema(
  `directive @defer(label: String) on INLINE_FRAGMENT directive @live on QUERY ${typeDefs}`,
)

/** What Relay's compiler writes for a document: of it, what the matrix needs. */
function compile(text: string) {
  const definition = parse(text).definitions[0] as OperationDefinitionNode
  const rootType = schema.getRootType(definition.operation) as GraphQLObjectType
  const selections = selectionsOf(rootType, definition.selectionSet)
  const name = definition.name?.value ?? 'Unnamed'
  return {
    kind: 'Request',
    fragment: {
      argumentDefinitions: [],
      kind: 'Fragment',
      metadata: null,
      name,
      selections,
      type: rootType.name,
      abstractKey: null,
    },
    operation: { argumentDefinitions: [], kind: 'Operation', name, selections },
    params: { cacheID: text, id: null, metadata: {}, name, operationKind: definition.operation, text },
  }
}

function selectionsOf(type: GraphQLObjectType, { selections }: SelectionSetNode): readonly object[] {
  return selections.map((selection): object => {
    if (selection.kind === Kind.INLINE_FRAGMENT) {
      const label = selection.directives?.[0]?.arguments?.find(({ name }) => name.value === 'label')?.value
      return {
        if: null,
        kind: 'Defer',
        label: label && valueFromASTUntyped(label),
        selections: selectionsOf(type, selection.selectionSet),
      }
    }
    if (selection.kind !== Kind.FIELD) throw new Error(`No ${selection.kind} here`)
    const name = selection.name.value
    const args = (selection.arguments ?? []).map(({ name, value }) => ({
      kind: 'Literal',
      name: name.value,
      value: valueFromASTUntyped(value),
    }))
    const common = { alias: null, args: args.length > 0 ? args : null, name, storageKey: null }
    const field = type.getFields()[name]
    const below = field && getNamedType(field.type)
    if (!isObjectType(below) || !selection.selectionSet) return { ...common, kind: 'ScalarField' }
    return {
      ...common,
      concreteType: below.name,
      kind: 'LinkedField',
      plural: false,
      selections: selectionsOf(below, selection.selectionSet),
    }
  })
}

/** Relay takes each patch as a result of its own, with label and path at the top. */
function* flatten({ incremental, hasNext, ...part }: any): Generator<any> {
  const extensions = { is_final: hasNext !== true }
  if (part.data !== undefined) yield { ...part, extensions }
  for (const patch of incremental ?? []) yield { ...patch, extensions }
}

async function* request(url: string, query: string): AsyncGenerator<any> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'multipart/mixed, application/json' },
    body: JSON.stringify({ query }),
  })
  const parts = await meros<any>(response)
  if (!(Symbol.asyncIterator in parts)) yield await (parts as Response).json()
  else for await (const { body } of parts) yield* flatten(body)
}

export function createRelay(url: string, ws: WsClient): Library {
  const overHttp = (query: string): Observable<any> =>
    Observable.create((sink) => {
      const send = async (): Promise<void> => {
        for await (const result of request(url, query)) sink.next(result)
        sink.complete()
      }
      send().catch((error: Error) => sink.error(error))
    })
  const overSocket = (query: string): Observable<any> =>
    Observable.create((sink) => ws.subscribe({ query }, sink as never))
  const environment = new Environment({
    network: Network.create(
      ({ text }) => (text?.includes('@live') ? overSocket(text) : overHttp(text ?? '')),
      ({ text }) => overSocket(text ?? ''),
    ),
    store: new Store(new RecordSource()),
  })

  function run(
    text: string,
    observer: { next?(data: any): void; complete?(): void; error?(error: Error): void },
  ) {
    const operation = createOperationDescriptor(compile(text) as any, {})
    const data = (): any => structuredClone(environment.lookup(operation.fragment).data)
    const { next, ...rest } = observer
    if (text.startsWith('subscription')) {
      const onNext = (seen: any): void => next?.(structuredClone(seen))
      const { dispose } = requestSubscription(environment, {
        subscription: compile(text) as any,
        variables: {},
        onNext,
      })
      return { unsubscribe: dispose }
    }
    const source = text.startsWith('mutation')
      ? environment.executeMutation({ operation })
      : environment.execute({ operation })
    return source.subscribe({ next: () => next?.(data()), ...rest })
  }

  function collect(text: string): Promise<readonly any[]> {
    const seen: any[] = []
    return new Promise((resolve, error) => {
      run(text, { next: (data) => seen.push(data), complete: () => resolve(seen), error })
    })
  }

  return {
    ask: async (text) => (await collect(text)).at(-1),
    defer: collect,
    follow(text, next) {
      const subscription = run(text, { next, error() {} })
      return () => subscription.unsubscribe()
    },
    close: () => ws.dispose(),
  }
}
