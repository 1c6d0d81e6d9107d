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
  createMutationEvents,
  type MutationAnnouncer,
  type MutationOutcome,
  readVerb,
} from './mutations/mutation-events.ts'
export type { BatchName, InvalidationBus, InvalidationEvent } from './types.ts'
export {
  type FieldOfType,
  type SelectedField,
  selectOperation,
  statedChanges,
  statedDependsOn,
} from './dependencies/selected-fields.ts'
