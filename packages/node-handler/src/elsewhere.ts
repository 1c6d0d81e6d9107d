/** Replaces the package on platforms without the export condition `node`. Each function throws. */

/** Throws, because the platform has no HTTP server of Node. */
function notHere(): never {
  throw new TypeError(
    '@vinyasa/node-handler works only with the HTTP server of Node. If your server uses Request objects, call yoga.fetch.',
  )
}

export {
  notHere as acceptTargets,
  notHere as createNodeHandler,
  notHere as guardBody,
  notHere as readFormData,
  notHere as useUploads,
}
