import { vi } from 'vitest'
import type { PlanEvent } from '@vinyasa/source-kit'
import type { Disposables } from '@vinyasa/test-kit'
import { restTransport } from './backends.ts'
import { createServer, type Server } from './servers.ts'
import { createTruth, type Truth } from './truth.ts'

// Import it before all that has modules of the product: two of them are others here.

vi.mock('../../../packages/rest-connector/src/http/client/undici-client.ts', () => ({
  createTransport: () => restTransport,
}))

// What is long enough to be worked on in several turns of the event loop is drawn as often as what is not.
vi.mock(import('../../../packages/core/src/time/turns.ts'), async (original) => ({
  ...(await original()),
  SLICE_BYTES: 60 as never,
}))

export interface World {
  readonly servers: ReadonlyMap<string, Server>
  readonly schema: Server['schema']
  readonly truth: Truth
}

/** The same sources behind three servers, and what there is in them. `tell` hears what becomes of plans. */
export async function openWorld(
  cleanup: Disposables,
  tell: (event: PlanEvent) => void = () => {},
): Promise<World> {
  const of = (plans: boolean, isSharing: boolean): Promise<Server> =>
    createServer({ plans, isSharing, isReversed: isSharing, tell, cleanup })
  const planning = await of(true, false)
  const servers = new Map([
    ['without plans', await of(false, false)],
    ['with plans', planning],
    ['that share', await of(true, true)],
  ])
  return { servers, schema: planning.schema, truth: createTruth(planning.schema) }
}
