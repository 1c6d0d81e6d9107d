export {
  type VariesBy,
  describeVariesBy,
  describeOperationVariesBy,
  isTracingHeader,
  toVariesBy,
} from './dependencies/varies-by.ts'
export type { BrokerBus, BrokerBusOptions } from './bus/broker-bus.ts'
export { createInvalidationBus } from './bus/bus.ts'
export {
  createDependencies,
  createDependencyCache,
  type Dependence,
  type Dependencies,
} from './dependencies/dependencies.ts'
export {
  type BusState,
  createDistributedInvalidationBus,
  type DistributedInvalidationBus,
} from './bus/distributed-bus.ts'
export {
  createMutationAnnouncer,
  type MutationAnnouncer,
  type MutationOutcome,
} from './mutations/mutation-announcer.ts'
export { createMutationEvents, readVerb } from './mutations/mutation-events.ts'
export type { BatchName, InvalidationBus, InvalidationEvent } from './types.ts'
export { type FieldOfType, type SelectedField, selectOperation } from './dependencies/selected-fields.ts'
export { statedChanges, statedDependsOn } from './dependencies/statements.ts'
