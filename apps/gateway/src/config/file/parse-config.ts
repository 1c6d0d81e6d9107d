import { ConfigError, formatPath } from '../../errors.ts'
import { gatewayConfig } from '../schema.ts'
import type { GatewayConfig } from '../types.ts'
import { describeIssues, type Mistake } from './describe-issue.ts'
import { withTexts } from './environment.ts'
import { withSettingNames } from './specification-names.ts'

export type Parsed =
  | { readonly config: GatewayConfig; readonly mistakes: readonly [] }
  | { readonly config?: undefined; readonly mistakes: readonly Mistake[] }

/** Validates what was read of YAML or JSON, whose settings may bear the specification's names. */
export function validateData(data: unknown): Parsed {
  return validate(withTexts(withSettingNames(withoutSchema(data), gatewayConfig)))
}

/** Validates a config. Throws {@link ConfigError}: a line for each mistake, with the path and what was expected. */
export function parseConfig(value: unknown): GatewayConfig {
  const { config, mistakes } = validate(withSettingNames(withoutSchema(value), gatewayConfig))
  if (config) return config
  throw new ConfigError(mistakes.map(formatMistake).join('\n'))
}

export function formatMistake({ path, text }: Mistake): string {
  return `${formatPath(path)}: ${text}`
}

function validate(value: unknown): Parsed {
  const result = gatewayConfig.safeParse(value)
  if (result.success) return { config: result.data, mistakes: [] }
  return { mistakes: describeIssues(result.error.issues, gatewayConfig) }
}

/** Editors look there for the description of a file; it says nothing to the gateway. */
function withoutSchema(value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  const { $schema: _, ...config } = value as Readonly<Record<string, unknown>>
  return config
}
