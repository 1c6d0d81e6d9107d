import {
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  GraphQLString,
  getNullableType,
  type GraphQLInputType,
} from 'graphql'
import type { Literal } from './scan-literals.ts'

/** Converts a literal to the value of a variable. Returns `undefined` if the literal is invalid for the type. */
export type ReadLiteral = (literal: Literal) => string | number | undefined

const INTEGER = /^-?\d+$/
const MAX_INT = 2_147_483_647

/**
 * Readers of the scalars that come with GraphQL: for these a literal and a variable's value come to the same; others
 * have a say of their own.
 */
const READERS = new Map<unknown, ReadLiteral>([
  [GraphQLString, ({ kind, raw }) => (kind === 'string' ? raw : undefined)],
  // A number stays a text, so that no digit is lost.
  [GraphQLID, ({ kind, raw }) => (kind === 'string' || INTEGER.test(raw) ? raw : undefined)],
  [
    GraphQLInt,
    ({ kind, raw }) => {
      const value = Number(raw)
      // `-0` is a number of its own.
      return kind === 'number' && INTEGER.test(raw) && Math.abs(value) <= MAX_INT && !Object.is(value, -0)
        ? value
        : undefined
    },
  ],
  [
    GraphQLFloat,
    ({ kind, raw }) => {
      const value = Number(raw)
      return kind === 'number' && Number.isFinite(value) && !Object.is(value, -0) ? value : undefined
    },
  ],
])

/** Undefined for types whose literals stay where they are. */
export function readerOf(type: GraphQLInputType | null | undefined): ReadLiteral | undefined {
  return type ? READERS.get(getNullableType(type)) : undefined
}
