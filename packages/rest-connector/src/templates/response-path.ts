import { compileResultPath } from '@vinyasa/source-kit'
import { RestConfigError } from '../errors.ts'

/** Compiles a path into a response, as the specification has it. @throws RestConfigError */
export function compileResponsePath(path: string): ReturnType<typeof compileResultPath> {
  return compileResultPath(path, (problem) => new RestConfigError(`responsePath ${problem}`))
}
