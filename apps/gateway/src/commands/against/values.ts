import { type GraphQLSchema, isScalarType, isSpecifiedScalarType } from 'graphql'
import type { GatewayConfig } from '../../config/types.ts'
import { describeSetting, ownCoordinate, type Setting } from './settings.ts'

/**
 * 64-bit integers that are texts of digits: a schema does not tell whether they were. One of ours does, by the scalar's
 * description, and so it does where nothing has changed.
 */
export function describeValues(
  before: GraphQLSchema,
  after: GraphQLSchema,
  { grpc = {}, rest = {} }: GatewayConfig,
): readonly string[] {
  const asNumbers = (section: string, name: string): Setting => ({
    path: [section, name, 'int64'],
    value: 'number-when-safe',
  })
  return Object.values(before.getTypeMap()).flatMap((old) => {
    const now = after.getType(old.name)
    if (!isScalarType(old) || !isScalarType(now) || isSpecifiedScalarType(now)) return []
    if (old.description === now.description) return []
    const ofRest = Object.entries(rest).flatMap(([name, options]) =>
      options.int64 === undefined && ownCoordinate(now.name, options) === 'Long'
        ? [[asNumbers('rest', name)]]
        : [],
    )
    const ofGrpc = Object.entries(grpc).flatMap(([name, options]) => {
      if (options.int64 !== 'bigint-scalar' || ownCoordinate(now.name, options) !== 'BigInt') return []
      const rename: Setting = { path: ['grpc', name, 'rename', 'Long'], value: now.name }
      return [[asNumbers('grpc', name), rename]]
    })
    return [...ofRest, ...ofGrpc].map(
      (settings) =>
        `values   ${now.name} is a string of digits; if clients received numbers before, set ${settings.map(describeSetting).join(' and ')}`,
    )
  })
}
