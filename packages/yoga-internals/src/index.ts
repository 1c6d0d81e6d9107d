export { chosenParser, parserHooks } from './parsers.ts'
export { type PluginHooks, yogasPlugins, type YogasPlugins } from './yogas-plugins.ts'
export { yogasExecutor } from './executor.ts'
export {
  type AnswerLimits,
  AnswerSize,
  type AnswerWatcher,
  answerSizeOf,
  beginAnswer,
  endOfRead,
} from './answer-size.ts'
export { behindObjectCounter, isObjectCounter, noteObjectCounter } from './object-counters.ts'
export { measureJson } from './measure.ts'
