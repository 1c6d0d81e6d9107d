import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { sourceFilesUnder } from '@vinyasa/test-kit'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** A function's text, which a bundler, a minifier and every new version write otherwise. */
const TEXT_OF_FUNCTION =
  /Function\.prototype\b|\b(?:\w*(?:[hH]ook|[pP]lugin|[fF]n|[fF]unction|[cC]allback)s?\b|on[A-Z]\w*)(?:\.toString\(|\.map\(String\))|\bString\((?:\w+\.)*(?:\w*(?:[hH]ook|[pP]lugin|[fF]n|[fF]unction|[cC]allback)|on[A-Z]\w*)\)|\(isFunction\)\.map\(String\)/

/** A second server, made of the class of a first. */
const ANOTHER_OF_ITS_CLASS = /Reflect\.construct\(constructor\b|\bnew \w+\.constructor\b/

const finds = (text: string): boolean => TEXT_OF_FUNCTION.test(text) || ANOTHER_OF_ITS_CLASS.test(text)

describe('hooks are told by their place, and by what they do', () => {
  it.each([
    ['Function.prototype.toString.call(own)', true],
    ['code.has(String(hook))', true],
    ['String(plugin.onValidate)', true],
    ['onParse.toString()', true],
    ['hooks.map(String)', true],
    ['values.filter(isFunction).map(String)', true],
    ['void Reflect.construct(constructor, [options])', true],
    ['String(bytes)', false],
    ['field.desc.toString()', false],
    ['values.map(String)', false],
  ])('%s: %s', (line, isFound) => expect(finds(line)).toBe(isFound))

  it.each(['packages', 'apps'])('in every source file of %s', (folder) => {
    const files = sourceFilesUnder(root, folder)
    expect(files.length).toBeGreaterThan(50)
    expect(files.filter((file) => finds(readFileSync(`${root}/${file}`, 'utf8')))).toEqual([])
  })
})
