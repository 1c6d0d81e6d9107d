export { bringPipeline, pipelineOf, usePipeline } from './use-pipeline.ts'
export type {
  Behaviour,
  BufferedRequest,
  EndpointAlias,
  ReceivedParams,
  RequestParser,
  ResponseHead,
} from './behaviour.ts'
export { enterAlias } from './plugins/hooks-of.ts'
export { type PluginWithBehaviour, withBehaviour } from './plugins/with-behaviour.ts'
export {
  argsOf,
  type Execute,
  type Executor,
  type Operation,
  type OperationParams,
  type PreparedDocument,
  withDocument,
} from './operation.ts'
export { Pipeline } from './pipeline.ts'
export { OperationRun } from './operation-run.ts'
export { createDocumentRoom, documentBytes, withoutFrames } from './document-room.ts'
export type { Asked } from './literals/known-shapes.ts'
export { notModified } from './not-modified.ts'
export { runHooks } from './execution/run-hooks.ts'
export {
  createPartStream,
  createStreamResponse,
  type PartStream,
  STREAM_HEADERS,
  type StreamFormat,
  type StreamPart,
} from './streams.ts'
export { toErrors } from './execution/to-errors.ts'
export type { Hook, Logger, ParamsHandler } from './yoga.ts'
