import { Ajv2020 } from 'ajv/dist/2020.js'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { definitionOf } from '../src/config/definition.ts'
import { configJsonSchema, type JsonSchema } from '../src/config/json-schema.ts'
import { gatewayConfig } from '../src/config/schema.ts'
import { anyConfig } from './support/any-config.ts'

const schema = configJsonSchema()
const isValid = new Ajv2020({ strict: false }).compile(schema)

/** Every setting that the validation knows, as a path, and whether data can hold it; `*`: names of the user's own. */
function settingsOf(value: unknown, path = ''): [string, boolean][] {
  if (isDeep(path)) return []
  const { shape, valueType, element, options = [] } = definitionOf(value) ?? {}
  return [
    ...Object.entries(shape ?? {}).flatMap(([key, member]): [string, boolean][] => [
      [`${path}.${key}`, isData(member)],
      ...settingsOf(member, `${path}.${key}`),
    ]),
    ...[valueType, element].flatMap((item) => (item ? settingsOf(item, `${path}.*`) : [])),
    ...options.flatMap((option) => settingsOf(option, path)),
  ]
}

/** Fields of REST responses hold such fields. */
function isDeep(path: string): boolean {
  return path.split('.').length > 12
}

function isData(value: unknown): boolean {
  const { type, options, element } = definitionOf(value) ?? {}
  if (options) return options.some(isData)
  return type !== 'custom' && (element === undefined || isData(element))
}

function describedIn(node: JsonSchema, path = ''): string[] {
  if (isDeep(path)) return []
  const { $ref, properties = {}, additionalProperties, items, anyOf = [] } = node
  if (typeof $ref === 'string') {
    const target = $ref
      .split('/')
      .slice(1)
      .reduce<any>((at, part) => at[part], schema)
    return describedIn(target, path)
  }
  return [
    ...Object.entries(properties).flatMap(([key, member]) => [
      `${path}.${key}`,
      ...describedIn(member, `${path}.${key}`),
    ]),
    ...[additionalProperties, items].flatMap((item) =>
      typeof item === 'object' ? describedIn(item, `${path}.*`) : [],
    ),
    ...anyOf.flatMap((option) => describedIn(option, path)),
  ]
}

describe('the JSON Schema of a config', () => {
  it('has every setting that data can hold, and none that only code can', () => {
    const described = new Set(describedIn(schema))
    const settings = settingsOf(gatewayConfig)
    expect(settings.length).toBeGreaterThan(200)
    expect(settings.filter(([path, isHeld]) => described.has(path) !== isHeld)).toEqual([])
  })

  it('takes every config that the validation takes, under both kinds of names', () => {
    fc.assert(
      fc.property(anyConfig, ({ own, specified }) => {
        for (const config of [own, specified]) {
          isValid(JSON.parse(JSON.stringify(config)))
          expect(isValid.errors ?? []).toEqual([])
        }
      }),
      { numRuns: 150 },
    )
  }, 60_000)

  it('takes variables for numbers, booleans and choices, durations, and what files say of themselves', () => {
    const config = {
      $schema: 'https://example.com/schema.json',
      extends: ['base.yaml'],
      preset: '${PRESET:-production}',
      server: { port: '${PORT}' },
      metrics: '${METRICS:-false}',
      rest: { shop: { base_url: 'http://shop', timeout: '30s', endpoints: [] } },
    }
    isValid(config)
    expect(isValid.errors ?? []).toEqual([])
  })

  it.each([
    ['an unknown setting', { sever: {} }],
    ['an unknown setting inside', { server: { prot: 1 } }],
    ['a wrong type', { server: { port: 'high' } }],
    ['what is missing', { auth: { jwt: { issuers: [{ issuer: 'https://id' }] } } }],
    ['code', { plugins: [{}] }],
  ])('refuses %s', (_, config) => {
    expect(isValid(config)).toBe(false)
  })
})
