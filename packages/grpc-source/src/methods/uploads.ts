import type { DescMessage } from '@bufbuild/protobuf'
import { ScalarType } from '@bufbuild/protobuf'
import { isFile } from '../mapping/scalars.ts'

/** Whether a message can hold bytes anywhere, so that only such requests are searched for files. */
export function holdsBytes(desc: DescMessage, seen: Set<DescMessage> = new Set()): boolean {
  if (seen.has(desc)) return false
  seen.add(desc)
  return desc.fields.some(
    (field) =>
      field.scalar === ScalarType.BYTES || (field.message !== undefined && holdsBytes(field.message, seen)),
  )
}

/** Replaces uploaded files by their contents. */
export async function readFiles(value: unknown): Promise<unknown> {
  if (isFile(value)) return new Uint8Array(await value.arrayBuffer())
  if (Array.isArray(value)) return Promise.all(value.map(readFiles))
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array || value instanceof Date)
    return value
  const entries = Object.entries(value).map(async ([key, item]) => [key, await readFiles(item)] as const)
  return Object.fromEntries(await Promise.all(entries))
}
