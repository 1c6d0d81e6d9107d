import { readdirSync, readFileSync, statSync } from 'node:fs'
import { expect, it } from 'vitest'
import { SHIPPED_PROTOS } from '../src/descriptors/shipped/protos.ts'

it('the protos inside are those in the folder', () => {
  const folder = new URL('../proto/', import.meta.url)
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    statSync(new URL(file, folder)).isFile(),
  )
  const texts = files.map((file) => [file, readFileSync(new URL(file, folder), 'utf8')] as const)
  expect(texts.length).toBeGreaterThan(5)
  expect(Object.fromEntries(SHIPPED_PROTOS)).toEqual(Object.fromEntries(texts))
})
