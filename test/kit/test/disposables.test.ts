import { describe, expect, it, onTestFinished } from 'vitest'
import { createDisposables } from '../src/index.ts'

describe('createDisposables', () => {
  it('closes everything once, last opened first, whatever the way it closes', async () => {
    const order: string[] = []
    const disposables = createDisposables()
    disposables.use({ close: () => order.push('close') })
    disposables.use(() => order.push('function'))
    disposables.use({ [Symbol.dispose]: () => void order.push('dispose') })
    disposables.use({ [Symbol.asyncDispose]: async () => void order.push('asyncDispose') })
    await disposables.dispose()
    await disposables.dispose()
    expect(order).toEqual(['asyncDispose', 'dispose', 'function', 'close'])
  })

  it('closes the rest when one fails, and tells the failure', async () => {
    const disposables = createDisposables()
    let closed = false
    disposables.use({ close: () => void (closed = true) })
    disposables.use(() => {
      throw new Error('stuck')
    })
    await expect(disposables.dispose()).rejects.toThrow('stuck')
    expect(closed).toBe(true)
  })

  let ended = false
  it('disposes by itself with a hook of vitest …', () => {
    createDisposables(onTestFinished).use(() => void (ended = true))
    expect(ended).toBe(false)
  })
  it('… when the test is over', () => expect(ended).toBe(true))
})
