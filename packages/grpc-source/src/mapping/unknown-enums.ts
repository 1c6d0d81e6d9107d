import type { Logger } from '../options.ts'

/** Warns of each enum number that the protos do not know, once. */
export function warnOfUnknownEnums(
  logger: Logger,
  sourceName: string,
): (enumName: string, number: number) => void {
  const seen = new Set<string>()
  return (enumName, number) => {
    const key = `${enumName} ${number}`
    // A hostile backend could send every number there is.
    if (seen.has(key) || seen.size >= 1_000) return
    seen.add(key)
    logger.warn(
      `grpc source "${sourceName}": the backend sent ${number}, which is not a value of ${enumName} and becomes null; update the protos to the version of the backend`,
    )
  }
}
