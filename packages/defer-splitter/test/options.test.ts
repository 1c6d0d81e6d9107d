import { describe, expect, it } from 'vitest'
import { deferPresets, useDeferSplitter } from '../src/index.ts'
import { resolveOptions } from '../src/options.ts'

describe('the defer configuration table', () => {
  const table = [
    ['enabled', 'enabled', true],
    ['max_deferred_fragments', 'maxDeferredFragments', 16],
    ['fragment_timeout_ms', 'fragmentTimeoutMs', 30_000],
    ['max_total_timeout_ms', 'maxTotalTimeoutMs', 60_000],
    ['multipart_boundary', 'multipartBoundary', '-'],
  ] as const
  it.each(table)('%s: default of %s is %s', (_, option, value) => {
    expect(resolveOptions()[option]).toBe(value)
    expect(resolveOptions({ [option]: undefined })[option]).toBe(value)
    expect(resolveOptions('default')[option]).toBe(value)
  })
})

describe('presets', () => {
  it.each([
    ['production (8 fragments, 15 s fragment timeout)', 'production', 8, 15_000, 30_000],
    ['development (64 fragments, 60 s timeout)', 'development', 64, 60_000, 120_000],
  ] as const)('%s', (_, preset, maxDeferredFragments, fragmentTimeoutMs, maxTotalTimeoutMs) => {
    const expected = { enabled: true, maxDeferredFragments, fragmentTimeoutMs, maxTotalTimeoutMs }
    expect(resolveOptions(preset)).toMatchObject(expected)
    expect(resolveOptions(deferPresets[preset])).toMatchObject(expected)
  })

  it('disabled (all fields executed eagerly, no deferral)', () => {
    expect(resolveOptions('disabled').enabled).toBe(false)
  })

  it('can be spread and changed, and cannot be changed in place', () => {
    const options = resolveOptions({ ...deferPresets.production, maxDeferredFragments: 4 })
    expect(options).toMatchObject({ maxDeferredFragments: 4, fragmentTimeoutMs: 15_000 })
    expect(Object.isFrozen(deferPresets.production)).toBe(true)
  })
})

describe('options that cannot be used stop the start with one clear error', () => {
  it.each([
    [{ maxDeferredFragments: -1 }, /maxDeferredFragments is -1; expected a whole number of at least 0/],
    [{ fragmentTimeoutMs: Number.NaN }, /fragmentTimeoutMs is NaN; expected a number of at least 0/],
    [
      { maxDeferredFragments: Number.POSITIVE_INFINITY },
      /maxDeferredFragments is Infinity; expected a whole/,
    ],
    [{ maxPatches: 1 } as object, /there is no option maxPatches/],
    [{ clock: {} } as object, /there is no option clock/],
    [{ multipartBoundary: '' }, /multipartBoundary must be 1 to 70/],
    [{ multipartBoundary: 'a\r\nb' }, /multipartBoundary must be 1 to 70/],
    [{ multipartBoundary: 'ends in space ' }, /multipartBoundary must be 1 to 70/],
    [{ strategy: 'lazy' as 'eager' }, /strategy must be "auto", "streaming" or "eager", got "lazy"/],
    [{ maskError: String } as object, /there is no option maskError/],
    ['prod' as 'production', /unknown preset "prod"; use one of default, production, development, disabled/],
  ])('%j', (options, message) => {
    expect(() => useDeferSplitter(options)).toThrow(message)
  })

  it('0 is a value', () => {
    expect(resolveOptions({ maxDeferredFragments: 0, fragmentTimeoutMs: 0 })).toMatchObject({
      maxDeferredFragments: 0,
      fragmentTimeoutMs: 0,
    })
  })

  it('a response has at most 1 000 patches', () => {
    expect(resolveOptions().maxPatches).toBe(1_000)
  })
})
