import type { Attack } from './attack.ts'
import { backendAttacks } from './backends.ts'
import { bodyAttacks } from './bodies.ts'
import { clientAttacks } from './clients.ts'
import { replyAttacks } from './replies.ts'
import { holderAttacks } from './holders.ts'
import { socketAttacks } from './sockets.ts'

/** Clients and backends that have the gateway hold memory. With a small heap, most have a row each in `held-memory.test.ts`. */
export const holders: readonly Attack[] = [
  ...bodyAttacks,
  ...holderAttacks,
  ...replyAttacks,
  ...socketAttacks.filter(({ name }) => name.includes('do not read')),
]

/** The attacks that `pnpm test:hostile` draws from. */
export const drawnAttacks: readonly Attack[] = [
  ...new Set([...clientAttacks, ...socketAttacks, ...backendAttacks, ...holders]),
]
