import type { AccessSections } from '../access/access-types.ts'
import type { AnswerSections } from '../answers/answer-types.ts'
import type { CostSections } from '../cost/cost-types.ts'
import type { OwnCodeSections } from '../dependencies/own-code-types.ts'
import type { FederationSections } from '../federation/types.ts'
import type { HttpSections } from '../http/http-types.ts'
import type { LogSections } from '../logging/log-types.ts'
import type { ObservabilitySections } from '../observability/observability-types.ts'
import type { PresetSections } from '../presets.ts'
import type { RateLimitSections } from '../rate-limit/rate-limit-types.ts'
import type { BrokerSections, RedisSections } from '../redis/broker-types.ts'
import type { SourceSections } from '../sources/types.ts'

/** The content of a `gateway.config.*` file: all sections of the config. */
export interface GatewayConfig
  extends
    PresetSections,
    HttpSections,
    LogSections,
    SourceSections,
    RedisSections,
    BrokerSections,
    AnswerSections,
    OwnCodeSections,
    AccessSections,
    RateLimitSections,
    CostSections,
    ObservabilitySections,
    FederationSections {}
