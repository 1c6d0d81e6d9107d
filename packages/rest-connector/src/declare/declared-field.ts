import type { ContributedField } from '@vinyasa/source-kit'
import type { TypeReference } from './fields.ts'

/** What a connector declares of a field, with types that are read already. */
export interface DeclaredField extends Pick<ContributedField, 'description' | 'parent' | 'name' | 'resolve'> {
  readonly type: TypeReference
  readonly args: ReadonlyMap<string, TypeReference>
  readonly requires?: readonly string[] | undefined
}
