/**
 * Executors drop the promises of a list when an item fails at once, and do not catch their errors. Lets errors of graphql that
 * have a path pass, until the returned function is called.
 */
export function ignoreForgottenErrors(): () => void {
  const listeners = process.listeners('unhandledRejection')
  const filter: NodeJS.UnhandledRejectionListener = (reason, promise) => {
    const { name, path } = Object(reason) as { readonly name?: unknown; readonly path?: unknown }
    const isLocated = name === 'GraphQLError' && path !== undefined
    if (!isLocated) for (const listener of listeners) listener(reason, promise)
  }
  process.removeAllListeners('unhandledRejection').on('unhandledRejection', filter)
  return () => {
    process.off('unhandledRejection', filter)
    for (const listener of listeners) process.on('unhandledRejection', listener)
  }
}
