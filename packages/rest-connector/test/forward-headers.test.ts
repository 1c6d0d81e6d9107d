import { expect, it } from 'vitest'
import { createForwardHeaders } from '../src/http/forward-headers.ts'

it('takes the named headers of a request, and nothing where none came', () => {
  const forward = createForwardHeaders(['X-Tenant', 'x-trace'])
  expect(forward?.({ request: { headers: new Headers({ 'x-tenant': 'acme', cookie: 'c' }) } })).toEqual({
    'x-tenant': 'acme',
  })
  expect(forward?.({ request: { headers: { 'x-trace': '1' } } })).toEqual({ 'x-trace': '1' })
  expect(forward?.(undefined)).toEqual({})
})
