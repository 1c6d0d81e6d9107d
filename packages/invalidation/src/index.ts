export {
  type Asker,
  describeAsker,
  describeOperationAsker,
  isTracingHeader,
  toAsker,
} from './dependencies/asker.ts'
export type { BrokerBus, BrokerBusOptions, BrokerBusState } from './bus/broker-bus.ts'
export { createInvalidationBus, type InvalidationBusOptions } from './bus/bus.ts'
export {
  createDependencies,
  createDependencyCache,
  type Dependence,
  type Dependencies,
  type DependencyOptions,
  everything,
} from './dependencies/dependencies.ts'
export {
  type BusEventTarget,
  createDistributedInvalidationBus,
  type DistributedBusOptions,
  type DistributedInvalidationBus,
} from './bus/distributed-bus.ts'
export {
  createMutationAnnouncer,
  type Mutation,
  type MutationAnnouncer,
  type MutationAnnouncerOptions,
  type MutationOutcome,
} from './mutations/mutation-announcer.ts'
export {
  createMutationEvents,
  type MutationEventsInput,
  type MutationEventsOptions,
} from './mutations/mutation-events.ts'
export type {
  InvalidationBus,
  InvalidationEvent,
  InvalidationListener,
  InvalidationPhase,
  SubscribeOptions,
} from './types.ts'
export {
  type FieldOfType,
  type SelectedField,
  type SelectedOperation,
  selectOperation,
} from './dependencies/selected-fields.ts'
export { statedChanges, statedDependsOn } from './dependencies/statements.ts'
export { readVerb, type Verb } from './mutations/verb.ts'
