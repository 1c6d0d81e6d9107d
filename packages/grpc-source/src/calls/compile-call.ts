import {
  FallBack,
  NotPlannable,
  prepareArguments,
  type Selection,
  type SelectionScope,
  type Variables,
  writtenType,
} from '@vinyasa/source-kit'
import {
  getNullableType,
  isLeafType,
  isNonNullType,
  isObjectType,
  Kind,
  type FieldNode,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type ValueNode,
} from 'graphql'
import { MessageCompiler, type CompileJoin } from '../json/compile-message.ts'
import { leafToJson } from '../json/leaf-writers.ts'
import { marks, type PlannableField } from '../json/planned-field.ts'
import type { Transcoder } from '../json/transcoder.ts'

/** One call of a plan. */
export interface PlannedCall {
  /** The response name. */
  readonly key: string
  readonly method: PlannableField
  /** @throws GraphQLError where the arguments are wrong */
  request(variables: Variables): Uint8Array | Promise<Uint8Array>
  /** Writes the value of the field, from the reply that the transcoder was given. @throws FallBack */
  write(transcoder: Transcoder): void
}

/** @throws NotPlannable */
export function compileCall(
  scope: SelectionScope,
  { key, field: definition, nodes }: Selection,
  compileJoin: CompileJoin,
): PlannedCall {
  const [node] = nodes
  const mark = marks.of(definition)
  if (!node || mark?.kind !== 'method')
    throw new NotPlannable(`the field ${definition.name} is not a query field that calls a unary gRPC method`)
  const { method } = mark
  const { runtime, withMask } = method
  const info = {
    schema: scope.schema,
    fieldNodes: nodes,
    returnType: definition.type,
    fragments: Object.fromEntries(scope.fragments),
    operation: scope.operation,
  } as unknown as GraphQLResolveInfo
  const argumentsOf = prepareArguments(definition, node)
  const toRequest = (variables: Variables): Uint8Array | Promise<Uint8Array> =>
    runtime.encode(withMask(argumentsOf(variables), info))
  const isConstant = node.arguments?.some(({ value }) => namesVariable(value)) !== true
  let constant: Uint8Array | undefined

  return {
    key,
    method,
    write: replyWriter(
      new MessageCompiler(scope, method.codecs, compileJoin),
      method,
      writtenType(definition),
      nodes,
    ),
    request(variables) {
      if (constant) return constant
      const request = toRequest(variables)
      if (isConstant && request instanceof Uint8Array) constant = request
      return request
    },
  }
}

function namesVariable(value: ValueNode): boolean {
  if (value.kind === Kind.LIST) return value.values.some(namesVariable)
  if (value.kind === Kind.OBJECT) return value.fields.some((field) => namesVariable(field.value))
  return value.kind === Kind.VARIABLE
}

function replyWriter(
  compiler: MessageCompiler,
  { output, pluck, codecs }: PlannableField,
  type: GraphQLOutputType,
  nodes: readonly FieldNode[],
): PlannedCall['write'] {
  const nullable = getNullableType(type)
  if (pluck) {
    const plan = compiler.field(output, pluck, type, nodes)
    return (transcoder) => transcoder.field(plan)
  }
  if (isObjectType(nullable)) {
    const plan = compiler.object(output, nullable, nodes)
    return (transcoder) => transcoder.object(plan)
  }
  if (!isLeafType(nullable))
    throw new NotPlannable(`the response type ${String(nullable)} is not an object type, a scalar or an enum`)
  // A well-known message, or one without fields, which stands for true.
  const isFlag = codecs.shapes.wellKnown(output) === undefined
  const decode = codecs.decoder(output)
  return (transcoder) => {
    const value = decode(transcoder.reader.buffer)
    const json = leafToJson(isFlag ? true : value, nullable)
    if (json === undefined && isNonNullType(type))
      throw new FallBack(`a value of the non-nullable type ${String(type)} is null`)
    transcoder.json.text(json ?? 'null')
  }
}
