export { type Asker, describeAsker, describeOperationAsker, toAsker } from './asker.ts'
export { createInvalidationBus, type InvalidationBusOptions } from './bus.ts'
export {
  createDependencies,
  createDependencyCache,
  type Dependence,
  type Dependencies,
  type DependencyOptions,
  everything,
} from './dependencies.ts'
export {
  type BusEventTarget,
  createDistributedInvalidationBus,
  type DistributedBusOptions,
  type DistributedInvalidationBus,
} from './distributed-bus.ts'
export {
  createMutationAnnouncer,
  type Mutation,
  type MutationAnnouncer,
  type MutationAnnouncerOptions,
  type MutationOutcome,
} from './mutation-announcer.ts'
export {
  createMutationEvents,
  type MutationEventsInput,
  type MutationEventsOptions,
} from './mutation-events.ts'
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
} from './selected-fields.ts'
export { statedChanges, statedDependsOn } from './statements.ts'
export { readVerb, type Verb } from './verb.ts'
