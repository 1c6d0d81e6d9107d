export { yogasOwnPlugins } from './own-plugins.ts'
export { chosenParser, parserHooks } from './parsers.ts'
export { type PluginHooks, yogasPlugins, type YogasPlugins } from './yogas-plugins.ts'
export { type Executor, yogasExecutor } from './executor.ts'
export { type Attachment, createAttachment } from './attachment.ts'
export {
  type AnswerLimits,
  AnswerSize,
  answerSizeOf,
  beginAnswer,
  endOfRead,
  RESPONSE_TOO_LARGE,
} from './answer-size.ts'
export { behindObjectCounter, isObjectCounter, noteObjectCounter } from './object-counters.ts'
export { measureJson } from './measure.ts'
