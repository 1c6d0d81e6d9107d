export { createNatsInvalidationBus, type NatsInvalidationBusOptions } from './nats-bus.ts'
