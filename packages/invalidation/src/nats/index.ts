export { createNatsInvalidationBus } from './nats-bus.ts'
