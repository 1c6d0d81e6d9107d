import type { InvalidationBus } from '@vinyasa/invalidation'
import type { ResponseCache } from '@vinyasa/response-cache'
import type { DocumentNode } from 'graphql'
import type { Access } from '../access/access.ts'
import type { OpenedBus } from '../bus/open-bus.ts'
import type { GatewayConfig } from '../config/types.ts'
import type { GatewayPaths } from '../http/paths.ts'
import type { Logger } from '../logging/logger.ts'
import type { MetricsReadings } from '../observability/metrics/metrics.ts'
import type { Observability } from '../observability/observability.ts'
import type { Source } from '../sources/source.ts'

/** The parts that a gateway is made of. */
export interface Parts {
  readonly config: GatewayConfig
  readonly logger: Logger
  readonly bus: InvalidationBus
  readonly broker: OpenedBus['broker']
  readonly cache: ResponseCache | undefined
  readonly sources: readonly Source[]
  readonly closeBackends: () => Promise<void>
  readonly observability: Observability
  readonly readings: MetricsReadings
  readonly access: Access
  readonly paths: GatewayPaths
  readonly typeDefs: DocumentNode | undefined
  readonly onLargeAnswers: ((areHeld: boolean) => void) | undefined
}
