export { createInvalidationBus, type InvalidationBusOptions } from './bus.ts'
export type {
  InvalidationBus,
  InvalidationEvent,
  InvalidationListener,
  InvalidationPhase,
  SubscribeOptions,
} from './types.ts'
