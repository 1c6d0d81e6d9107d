export { createNodeHandler, type NodeHandler } from './create-node-handler.ts'
export type { NodeHandlerOptions } from './options.ts'
export { acceptTargets, type AcceptTarget } from './request-target.ts'
