import type { ContributedField } from '@vinyasa/source-kit'
import type { Argument } from './arguments.ts'
import type { TypeReference } from './fields.ts'

/** A field as a connector declares it, with types that are read already. */
export interface DeclaredField extends Pick<
  ContributedField,
  'deprecationReason' | 'description' | 'parent' | 'name' | 'resolve'
> {
  readonly type: TypeReference
  readonly args: ReadonlyMap<string, Argument>
  readonly requires?: readonly string[] | undefined
  readonly isJoin?: boolean
}
