import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const source = (path: string): string =>
  readFileSync(fileURLToPath(new URL(`../../packages/${path}`, import.meta.url)), 'utf8')

// Packages import nothing of each other, so what the two kinds of plans have in common stands in both.
it.each([
  'coerce-variables',
  'collect-fields',
  'compile-operation',
  'compile-shares',
  'plain-executor',
  'plan-event',
  'planner',
  'run-shares',
  'share',
  'shared-join',
  'unplannable',
])('plans/%s.ts is the same in grpc-source and rest-connector: a mend of one is a mend of both', (name) => {
  expect(source(`rest-connector/src/plans/${name}.ts`)).toBe(source(`grpc-source/src/plans/${name}.ts`))
})
