/** The package where nothing fulfils the export condition `node`: each of its functions throws. */

/** Throws: there is no HTTP server of Node here. */
export function createNodeHandler(): never {
  throw notHere()
}

/** Throws: there is no HTTP server of Node here. */
export function acceptTargets(): never {
  throw notHere()
}

/** Throws: there is no HTTP server of Node here. */
export function useUploads(): never {
  throw notHere()
}

/** Throws: there is no HTTP server of Node here. */
export function readFormData(): never {
  throw notHere()
}

function notHere(): TypeError {
  return new TypeError(
    "@vinyasa/node-handler is for Node's own HTTP server: where requests are Request objects, call yoga.fetch.",
  )
}
