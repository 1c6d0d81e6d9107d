import type { Attack } from './attack.ts'
import { backendAttacks } from './backends.ts'
import { bodyAttacks } from './bodies.ts'
import { clientAttacks } from './clients.ts'
import { holderAttacks } from './holders.ts'
import { socketAttacks } from './sockets.ts'

/** Everything that `pnpm test:hostile` may choose from. */
export const attacks: readonly Attack[] = [
  ...clientAttacks,
  ...socketAttacks,
  ...bodyAttacks,
  ...holderAttacks,
  ...backendAttacks,
]
