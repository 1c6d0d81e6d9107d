export { createFakeClock, type FakeClock } from './fake-clock.ts'
