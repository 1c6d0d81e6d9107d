export * as Query from './query.ts'
