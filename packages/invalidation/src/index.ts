export { createInvalidationBus, type InvalidationBusOptions } from './bus.ts'
export {
  type BusEventTarget,
  createDistributedInvalidationBus,
  type DistributedBusOptions,
  type DistributedInvalidationBus,
} from './distributed-bus.ts'
export type {
  InvalidationBus,
  InvalidationEvent,
  InvalidationListener,
  InvalidationPhase,
  SubscribeOptions,
} from './types.ts'
