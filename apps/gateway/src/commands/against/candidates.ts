import { ofGrpc } from './candidates-grpc.ts'
import { ofRest } from './candidates-rest.ts'
import type { Finding } from './compare-schemas.ts'
import type { Candidate, View } from './view.ts'

/** What may make one finding go away besides another name, the likeliest first. Each has to be tried. */
export function candidatesFor(finding: Finding, view: View): readonly Candidate[] {
  return [...ofGrpc(finding, view), ...ofRest(finding, view), ...ofGateway(finding, view)]
}

/** Settings of the gateway, not of a source: what routers ask of a subgraph. */
function ofGateway({ rule, path }: Finding, { config }: View): readonly Candidate[] {
  const isAsked = rule === 'FIELD_REMOVED' && /^Query\._(service|entities)$/.test(path)
  return isAsked && !config.federation ? [[{ path: ['federation'], value: true }]] : []
}
