export { bringPipeline, Pipeline, pipelineOf, usePipeline } from './pipeline.ts'
export type {
  Behaviour,
  BufferedRequest,
  EndpointAlias,
  ReceivedParams,
  RequestParser,
  ResponseHead,
} from './behaviour.ts'
export { enterAlias, type PluginWithBehaviour, withBehaviour } from './plugins.ts'
export {
  argsOf,
  type Execute,
  type Executor,
  type Operation,
  type OperationParams,
  type PreparedDocument,
  withDocument,
} from './operation.ts'
export { OperationRun } from './operation-run.ts'
export { createDocumentRoom, documentBytes, withoutFrames } from './document-room.ts'
export type { Asked } from './literals.ts'
export { type Hook, type Logger, type ParamsHandler, runHooks, toErrors, notModified } from './yoga.ts'
export {
  createPartStream,
  createStreamResponse,
  type PartStream,
  STREAM_HEADERS,
  type StreamFormat,
  type StreamPart,
} from './streams.ts'
