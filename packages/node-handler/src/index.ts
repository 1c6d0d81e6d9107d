export { createNodeHandler, type NodeHandler } from './create-node-handler.ts'
export { type ShortWayPluginOptions, useShortWay } from './short-way/use-short-way.ts'
export type {
  KnownOperation,
  NextExecutor,
  ShortCall,
  ShortHeaders,
  ShortParams,
  ShortResponse,
  ShortStream,
  ShortStreamPart,
  ShortWayPart,
} from './short-way/part.ts'
export type { NodeHandlerOptions } from './options.ts'
export { acceptTargets, type AcceptTarget } from './http/request-target.ts'
export { readFormData } from './uploads/read-form-data.ts'
export { useUploads, type UploadOptions } from './uploads/use-uploads.ts'
export type { UploadedFile } from './uploads/uploaded-file.ts'
