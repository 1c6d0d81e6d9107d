import type { Attack } from './attack.ts'
import { backendAttacks } from './backends.ts'
import { bodyAttacks } from './bodies.ts'
import { clientAttacks } from './clients.ts'
import { holderAttacks } from './holders.ts'
import { socketAttacks } from './sockets.ts'

/** The attacks that `pnpm test:hostile` draws from. */
export const drawnAttacks: readonly Attack[] = [...clientAttacks, ...socketAttacks, ...backendAttacks]

/** All attacks. Those that fill the ledger have rows of their own (`held-memory.test.ts`), with a small heap. */
export const attacks: readonly Attack[] = [...drawnAttacks, ...bodyAttacks, ...holderAttacks]
