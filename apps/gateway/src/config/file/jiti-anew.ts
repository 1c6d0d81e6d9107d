import nodeModule from 'node:module'
import type { Jiti, JitiOptions } from 'jiti'

/**
 * Insides of jiti (checked with 2.7): modules of JavaScript that are not CommonJS it leaves to Node, which reads a file once in
 * a process. Where Node's import fails it runs them as it runs TypeScript, and reads the file each time.
 */
interface Insides {
  readonly onError: (error: unknown) => void
  readonly nativeImport: (id: string | URL) => Promise<unknown>
  readonly createRequire: typeof nodeModule.createRequire
}

type CreateInside = (id: string, options: JitiOptions, insides: Insides) => Jiti

/** Loads a module natively where `isNative` says so. */
export function createJitiAnew(options: JitiOptions, isNative: (id: string | URL) => boolean): Jiti {
  const require = nodeModule.createRequire(nodeModule.createRequire(import.meta.url).resolve('jiti'))
  const create = require('../dist/jiti.cjs') as CreateInside
  const transform: JitiOptions['transform'] = (given) =>
    (require('../dist/babel.cjs') as NonNullable<JitiOptions['transform']>)(given)
  return create(
    import.meta.url,
    { ...options, transform },
    {
      onError(error) {
        throw error
      },
      async nativeImport(specifier) {
        if (!isNative(specifier))
          throw new Error(`Node must not load ${String(specifier)} from its module cache.`)
        return import(String(specifier))
      },
      createRequire: nodeModule.createRequire,
    },
  )
}
