import { existsSync } from 'node:fs'
import type { Program } from '../src/index.ts'

const hasTailcall = ['node_modules/@tailcallhq/core-linux-x64-gnu', 'libc/root'].every((path) =>
  existsSync(new URL(`../peers/${path}`, import.meta.url)),
)
if (!hasTailcall) console.log('without Tailcall: `pnpm bench:peers` installs it')

/** Tailcall, where it is installed: none or one. */
export const tailcallPrograms: readonly Program[] = hasTailcall
  ? [{ name: 'Tailcall', file: new URL('../contenders/tailcall.ts', import.meta.url) }]
  : []
