import { lookup as lookUp, type LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'

/**
 * Looks names up for new connections, which go to all addresses of a name in turn. The family that the system prefers stays in
 * front: the other may be unreachable.
 */
export function spreadLookup(lookup: LookupFunction = lookUp as LookupFunction): LookupFunction {
  let turn = 0
  return (host, options, done) =>
    lookup(host, { ...options, all: true }, (error, found) => {
      const addresses = Array.isArray(found) ? inTurn(found, turn++) : []
      const [first] = addresses
      if (error || !first || options.all) done(error, addresses)
      else done(null, first.address, first.family)
    })
}

function inTurn(found: readonly LookupAddress[], turn: number): LookupAddress[] {
  const preferred = found.filter(({ family }) => family === found[0]?.family)
  const others = found.filter((one) => !preferred.includes(one))
  const at = preferred.length === 0 ? 0 : turn % preferred.length
  return [...preferred.slice(at), ...preferred.slice(0, at), ...others]
}
