import { expect, it } from 'vitest'
import * as pipeline from '../src/index.ts'

it('exports what it says', () => {
  expect(Object.keys(pipeline).sort()).toEqual([
    'OperationRun',
    'Pipeline',
    'argsOf',
    'bringPipeline',
    'createDocumentRoom',
    'documentBytes',
    'notModified',
    'pipelineOf',
    'runHooks',
    'toErrors',
    'usePipeline',
    'withDocument',
    'withoutFrames',
  ])
})
