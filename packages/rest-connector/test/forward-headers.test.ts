import { expect, it } from 'vitest'
import { createForwardHeaders } from '../src/http/forward-headers.ts'

// RFC 9110, section 7.6.1; what an HTTP client says of the body that it sends; RFC 7540, section 3.2.1.
it.each([
  'Connection',
  'Content-Encoding',
  'Content-Length',
  'Expect',
  'Host',
  'HTTP2-Settings',
  'Keep-Alive',
  'Proxy-Authenticate',
  'Proxy-Authorization',
  'Proxy-Connection',
  'TE',
  'Trailer',
  'Transfer-Encoding',
  'Upgrade',
])('%s is of the inbound connection: it stops the start, with its place', (name) => {
  expect(() => createForwardHeaders(['x-tenant', name])).toThrow(
    expect.objectContaining({
      findings: [
        { message: expect.stringContaining(`"${name.toLowerCase()}"`), path: ['forwardHeaders', 1] },
      ],
    }),
  )
})

it('takes the named headers of a request, and nothing where none came', () => {
  const forward = createForwardHeaders(['X-Tenant', 'x-trace'])
  expect(forward?.({ request: { headers: new Headers({ 'x-tenant': 'acme', cookie: 'c' }) } })).toEqual({
    'x-tenant': 'acme',
  })
  expect(forward?.({ request: { headers: { 'x-trace': '1' } } })).toEqual({ 'x-trace': '1' })
  expect(forward?.(undefined)).toEqual({})
})
