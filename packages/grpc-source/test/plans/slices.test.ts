import { afterAll, vi } from 'vitest'

// Files may share their modules: this one wants its own, and leaves none of them behind.
vi.hoisted(() => void vi.resetModules())
afterAll(() => void vi.resetModules())

// The same random schemas and replies, so long that each is read in many turns of the event loop.
vi.mock(import('@vinyasa/core'), async (original) => ({ ...(await original()), SLICE_BYTES: 4 }))
await import('./plans-equal.property.test.ts')
